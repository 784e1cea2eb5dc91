// A translation as it is drawn: attention between tokens, or between the words that they belong to.

function labels(text, tokens, words) {
  const parts = text.split(/\s+/u).filter(Boolean);
  const count = 1 + Math.max(-1, ...words.map((word) => word ?? -1));
  const byPieces = Array.from({ length: count }, (_, word) => tokens.filter((_, k) => words[k] === word).join(""));
  return [...(parts.length === count ? parts : byPieces), tokens.at(-1)];
}

function isWord(tokens, words) {
  return tokens.every((_, k) => words[k] === null ? k === tokens.length - 1 : words[k] === k);
}

/** Whether words and tokens of a translation are the same. */
export function hasPieces(translation) {
  return !isWord(translation.source_tokens, translation.source_words) || !isWord(translation.tokens, translation.target_words);
}

/** The source tokens, those that are words as they were typed, be they known or not. */
export function sourceLabels(translation) {
  const { source, features, source_tokens: tokens, source_words: words } = translation;
  return isWord(tokens, words) ? labels([source, ...(features ?? [])].join(" "), tokens, words) : tokens;
}

/** Rows and columns of an alpha: {source, target, alpha}; a source word's tokens are summed, a target word's averaged. */
export function between(translation, alpha, words) {
  const { source_tokens: sources, tokens: targets } = translation;
  if (!alpha) return null;
  const characters = translation.link_units.includes("characters");
  if (!words || characters) return { source: sources, target: targets, alpha };
  const source = labels([translation.source, ...(translation.features ?? [])].join(" "), sources, translation.source_words);
  const target = labels(translation.text, targets, translation.target_words);
  const place = (word, k, all, length) => (word === null ? (k === all - 1 ? length - 1 : null) : word);
  const sums = target.map(() => source.map(() => 0));
  const counts = target.map(() => 0);
  translation.target_words.forEach((word, i) => {
    const row = place(word, i, targets.length, target.length);
    if (row === null) return;
    counts[row] += 1;
    translation.source_words.forEach((other, j) => {
      const column = place(other, j, sources.length, source.length);
      if (column !== null) sums[row][column] += alpha[i][j];
    });
  });
  return { source, target, alpha: sums.map((row, i) => row.map((sum) => sum / Math.max(counts[i], 1))) };
}

/** Which words of two lists differ, by their longest common subsequence: [flags of the first, flags of the second]. */
export function differences(before, after) {
  const common = Array.from({ length: before.length + 1 }, () => new Array(after.length + 1).fill(0));
  for (let i = before.length - 1; i >= 0; i -= 1)
    for (let j = after.length - 1; j >= 0; j -= 1)
      common[i][j] = before[i] === after[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
  const flags = [before.map(() => true), after.map(() => true)];
  for (let i = 0, j = 0; i < before.length && j < after.length;) {
    if (before[i] === after[j]) { flags[0][i] = false; flags[1][j] = false; i += 1; j += 1; }
    else if (common[i + 1][j] >= common[i][j + 1]) i += 1;
    else j += 1;
  }
  return flags;
}

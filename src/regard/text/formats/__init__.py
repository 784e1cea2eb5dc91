"""Readers of file formats: each yields plain strings and knows one format."""

from regard.text.formats.columns import SEPARATORS as SEPARATORS
from regard.text.formats.columns import read_columns as read_columns
from regard.text.formats.columns import read_parallel as read_parallel
from regard.text.formats.files import STDIN as STDIN
from regard.text.formats.files import count_lines as count_lines
from regard.text.formats.files import group_by_size as group_by_size
from regard.text.formats.files import is_typed as is_typed
from regard.text.formats.files import read_file as read_file
from regard.text.formats.files import read_groups as read_groups
from regard.text.formats.files import shown as shown
from regard.text.formats.json_lines import is_json_lines as is_json_lines
from regard.text.formats.json_lines import name_members as name_members
from regard.text.formats.json_lines import read_json_lines as read_json_lines
from regard.text.formats.layout import inspect_lines as inspect_lines
from regard.text.formats.layout import look_ahead as look_ahead
from regard.text.formats.layout import read_plain as read_plain

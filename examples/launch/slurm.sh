#!/bin/bash
# Train one model with SLURM: one torchrun per machine, one process per GPU.
#
#   sbatch examples/launch/slurm.sh model --train pairs.tsv
#
# The arguments are those of `regard train`. The folder and the data lie on a file system that all machines see.
# A job that runs out of time gets SIGTERM two minutes before its end, writes a checkpoint, and is queued again; it goes on
# by itself, for the command has --resume.
#SBATCH --job-name=regard
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=4
#SBATCH --cpus-per-task=16
#SBATCH --time=04:00:00
#SBATCH --signal=TERM@120
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=regard-%j.log
set -euo pipefail

first=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
processes=${PROCESSES_PER_MACHINE:-${SLURM_GPUS_ON_NODE:-1}}

status=0
srun --kill-on-bad-exit=1 torchrun \
    --nnodes "$SLURM_JOB_NUM_NODES" --nproc-per-node "$processes" \
    --rdzv-backend c10d --rdzv-id "$SLURM_JOB_ID" --rdzv-endpoint "$first:${PORT:-29500}" \
    -m regard train "$@" --resume || status=$?

# stopped before its end: FOLDER/report.json is written last
if [ "$status" -ne 0 ] && [ ! -e "$1/report.json" ] && [ "$(date +%s)" -ge "$((${SLURM_JOB_END_TIME:-0} - 180))" ]; then
    scontrol requeue "$SLURM_JOB_ID"
fi
exit "$status"

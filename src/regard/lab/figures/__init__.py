"""What an experiment shows of its numbers, a file each: draw_NAME, tabulate_NAME, remark_NAME. Nothing is measured."""

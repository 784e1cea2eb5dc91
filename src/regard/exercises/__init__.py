"""Exercises for the lectures: notebooks, files of functions to fill in, and the check of those files.

`catalogue` knows the files, `references` what each function must compute, `mutations` the typical mistakes, `judge` the
check of one file, and `runner` the process in which it runs. The files themselves are data: ``templates/`` has the
functions to fill in, ``solutions/`` a solution of each, ``notebooks/`` one notebook per lecture.
"""

# Put at the front of PYTHONPATH by `rubato run` and `rubato measure`: lets rubato's hooks in, then steps aside, all of it
# in rubato/_inject.py beside this folder. CPython keeps this file's byte code before a line of it has run, and looks
# neither then nor later whether that was written whole. So it is kept below 512 bytes, a block: `ulimit -f` and full disks
# cut larger files short.
exec(__loader__.get_data(__file__[:-23] + "rubato/_inject.py"))

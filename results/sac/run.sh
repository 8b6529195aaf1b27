#!/bin/sh
# Every run of this folder: two at a time, one core each. Finished runs are skipped; repeating the command is safe.
# sh results/sac/run.sh RUNS_FOLDER
runs=${1:-runs/sac}
one() { # environment, steps, seed
  out="$runs/$1-s$3"
  [ -f "$out/done" ] || taskset -c "$(($3 % 2))" macura train --algorithm sac --preset default \
    --env "$1" --steps "$2" --seed "$3" --out "$out"
}
for parity in 0 1; do
  for seed in 0 1 2 3 4; do
    [ $((seed % 2)) -eq $parity ] || continue
    one Pendulum-v1 10000 $seed
    one InvertedPendulum-v5 20000 $seed
    one HalfCheetah-v4 25000 $seed
  done &
done
wait

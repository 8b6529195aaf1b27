#!/bin/sh
# Every run of this folder, on two cores: sh results/sac/run.sh RUNS_FOLDER. Repeating the command goes on where it stopped.
runs=${1:-runs/sac}
one() { # environment, steps, seed
  out="$runs/$1-s$3"
  [ -f "$out/done" ] || taskset -c "$(($3 % 2))" macura train --algorithm sac --preset default \
    --env "$1" --steps "$2" --seed "$3" --out "$out"
}
core() { # seeds
  for seed in $1; do one Pendulum-v1 10000 "$seed"; done
  for seed in $1; do one InvertedPendulum-v5 20000 "$seed"; done
  for seed in $1; do one HalfCheetah-v4 25000 "$seed"; done
}
core "0 2 4" & core "1 3" &
wait

import fc from "fast-check";

// Every run has the same cases, so that a change causes a failing one. `FUZZ_SEED=$RANDOM` tries other cases.
fc.configureGlobal({ seed: Number(process.env.FUZZ_SEED ?? 1) });

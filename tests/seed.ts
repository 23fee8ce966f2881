import fc from "fast-check";

// The same cases in every run, so that a red one is the change's; `FUZZ_SEED=$RANDOM` looks elsewhere.
fc.configureGlobal({ seed: Number(process.env.FUZZ_SEED ?? 1) });

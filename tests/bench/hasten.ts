// Loaded into a measured engine: when asked to, its clock jumps ahead, so that background work need not rest in real time.
let aheadMs = 0;
const now = Date.now.bind(Date);
Date.now = () => now() + aheadMs;

process.on("SIGUSR2", () => {
  aheadMs += 31_000;
});

import { startTroublemaker } from './troublemaker.ts'

/** Tells its parent the id of the process of a plugin, in which a loop without end then begins. */
const { process: plugin, tell } = await startTroublemaker({ teardown () {} })
process.send?.(plugin.pid)
await tell('code setImmediate(() => { for (;;); })')
process.send?.('hangs')

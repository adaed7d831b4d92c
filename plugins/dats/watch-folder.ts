import { existsSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { describeRefusal, openWatch } from '../watcher/open-watch.ts'

/** A file that is still being copied changes more often than this. */
const REST_MS = 5_000

/**
 * Calls `onChange` after the files directly in a folder changed and came to rest. A folder that does not exist yet is
 * not watched.
 */
export function watchDatFolder (app: FastifyInstance, dir: string, onChange: () => Promise<void>): void {
  let timer: NodeJS.Timeout | undefined
  let close = () => {}
  const warn = (err: unknown) => { app.log.warn({ dir, reason: describeRefusal(err) }, 'the folder of DATs is not watched; the next scan reads it') }
  const noteChange = () => {
    clearTimeout(timer)
    timer = setTimeout(() => { onChange().catch(warn) }, REST_MS).unref()
  }
  app.addHook('onReady', async () => {
    if (!existsSync(dir)) return
    try {
      const watch = openWatch(dir, noteChange, warn)
      close = () => { watch.close() }
    } catch (err) {
      warn(err)
    }
  })
  app.addHook('preClose', async () => {
    clearTimeout(timer)
    close()
  })
}

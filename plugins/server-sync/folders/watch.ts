import { type FSWatcher, watch } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { sep } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { describeRefusal } from '../../watcher/open-watch.ts'

const MINUTE_MS = 60_000
/** Delay before a failed watch is opened again. */
const RETRY_MS = 60_000

/**
 * True unless the path is in another folder of the device. Changes of a new device folder count too, because it may
 * contain files before its watch starts.
 */
const isIncoming = (path: string | null) => path === null || !['outgoing', 'conflicts'].includes(path.split(sep)[1] ?? '')

/**
 * Calls `onRest` once the folders `incoming` did not change for a while. The first call follows the start, for files
 * that came before.
 */
export function watchFolders (
  app: FastifyInstance, base: string, delayMinutes: number, onRest: () => Promise<void>
): void {
  let watcher: FSWatcher | null = null
  let timer: NodeJS.Timeout | undefined
  let again: NodeJS.Timeout | undefined
  let working = Promise.resolve()
  let isClosing = false

  function scheduleSync (): void {
    working = working.then(onRest).catch((err: unknown) => {
      app.log.warn({ err }, 'the folders of devices could not be scanned; the next change tries again')
    })
  }

  function change (path: string | null): void {
    if (!isIncoming(path) || isClosing) return
    clearTimeout(timer)
    timer = setTimeout(scheduleSync, delayMinutes * MINUTE_MS)
  }

  function reportFailure (err: unknown): void {
    watcher?.close()
    watcher = null
    if (isClosing) return
    app.log.warn({ base }, `the folders of devices are not watched: ${describeRefusal(err)}`)
    again = setTimeout(() => { void open() }, RETRY_MS).unref()
  }

  async function open (): Promise<void> {
    try {
      await mkdir(base, { recursive: true })
      if (isClosing) return
      watcher = watch(base, { recursive: true, persistent: false }, (_event, path) => { change(path) }).on('error', reportFailure)
      change(null)
    } catch (err) {
      reportFailure(err)
    }
  }

  app.addHook('onReady', open)
  app.addHook('preClose', async () => {
    isClosing = true
    clearTimeout(timer)
    clearTimeout(again)
    watcher?.close()
    await working
  })
}

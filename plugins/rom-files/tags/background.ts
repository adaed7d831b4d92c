import type { FastifyInstance } from 'fastify'
import type { Tagger } from './tagger.ts'

/** Reads tags of scanned files in the background: when a worker starts, and after every scan. */
export function tagInBackground (app: FastifyInstance, tagger: Tagger): void {
  const closing = new AbortController()
  let working: Promise<void> | null = null
  let isWakeRequested = false

  async function tagAll (): Promise<void> {
    while (isWakeRequested && !closing.signal.aborted) {
      isWakeRequested = false
      await tagger.tagAll(closing.signal)
    }
  }

  function wake (): void {
    isWakeRequested = true
    working ??= tagAll().catch((err: unknown) => {
      if (!closing.signal.aborted) app.log.warn({ err }, 'tags of music could not be read; the next scan tries again')
    }).finally(() => {
      working = null
      if (isWakeRequested && !closing.signal.aborted) wake()
    })
  }

  app.rest.addSource({ name: 'tags of music', hasWork: () => working !== null })
  app.tasks.onEnd(({ type }) => { if (type === 'scan') wake() })
  app.addHook('onReady', async () => { wake() })
  app.addHook('preClose', async () => {
    closing.abort()
    await working
  })
}

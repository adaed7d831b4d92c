import type { FastifyInstance } from 'fastify'
import type { Tagger } from './tagger.ts'

/** Reads tags of scanned files in the background: when a worker starts, and after every scan. */
export function tagInBackground (app: FastifyInstance, tagger: Tagger): void {
  const closing = new AbortController()
  let working: Promise<void> | null = null
  let isPoked = false

  async function work (): Promise<void> {
    while (isPoked && !closing.signal.aborted) {
      isPoked = false
      await tagger.tagAll(closing.signal)
    }
  }

  function poke (): void {
    isPoked = true
    working ??= work().catch((err: unknown) => {
      if (!closing.signal.aborted) app.log.warn({ err }, 'tags of music could not be read; the next scan tries again')
    }).finally(() => {
      working = null
      if (isPoked && !closing.signal.aborted) poke()
    })
  }

  app.tasks.onEnd(({ type }) => { if (type === 'scan') poke() })
  app.addHook('onReady', async () => { poke() })
  app.addHook('preClose', async () => {
    closing.abort()
    await working
  })
}

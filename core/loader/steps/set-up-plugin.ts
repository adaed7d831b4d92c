import type { ProviderContext } from '@svc/plugin-sdk'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../config/config.ts'
import type { Candidate } from './candidate.ts'
import { type PluginServices, createContext, readPreferences } from '../context.ts'
import { messageOf } from '../process/errors.ts'
import { LoadError, limitLoading } from '../load-error.ts'
import { createMemo } from '../calls/memo.ts'

export interface SetUpOptions {
  config: Config
  /** The time limit of the set-up, and again of closing. */
  timeoutMs: number
}

/** Returns the context of a set-up, which ends at the timeout. */
function openContext (services: PluginServices, { config, timeoutMs }: SetUpOptions): ProviderContext {
  const ending = new AbortController()
  const timeoutError = new LoadError('failed', `its setup does not end within ${timeoutMs / 1_000} seconds`)
  setTimeout(() => { ending.abort(timeoutError) }, timeoutMs).unref()
  return createContext(services, { signal: ending.signal, memo: createMemo(), preferences: readPreferences(config) })
}

/** Sets a plugin up, and adds the function that closes it. @throws LoadError if the set-up fails */
export async function setUpPlugin (app: FastifyInstance, candidate: Candidate, options: SetUpOptions): Promise<void> {
  const { pack, plugin, process, services } = candidate
  if (plugin === null || services === null) return
  const { definition } = plugin
  const closers: (() => Promise<void>)[] = []
  const close = () => limitLoading('closing it', options.timeoutMs, async () => { for (const one of closers) await one() })
    .catch((err: unknown) => { app.log.warn({ err, plugin: pack.name }, 'plugin did not close') })
  const open = () => openContext(services, options)
  // Added before the set-up, because a set-up that exceeds its time may still finish, and the plugin must then be
  // closed. It is the first closer, because the plugin may need its services until its end.
  candidate.closers.unshift(close)
  async function start (): Promise<void> {
    if (process !== null) {
      closers.push(() => process.close())
      await process.setUp(open)
      return
    }
    await definition.setup?.(open() as never)
    closers.push(async () => { await definition.close?.() })
  }
  await limitLoading('its setup', options.timeoutMs, start).catch((err: unknown) => {
    throw err instanceof LoadError ? err : new LoadError('failed', `its setup throws: ${messageOf(err)}`)
  })
}

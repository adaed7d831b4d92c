import { AsyncLocalStorage } from 'node:async_hooks'
import type { FastifyBaseLogger } from 'fastify'
import { METHODS, findMethod, withMethods } from '../descriptor.ts'

/** The plugin whose code runs in this async context, including work that it started and did not await. */
const running = new AsyncLocalStorage<string>()

/** Runs a plugin's code so that an unhandled error is attributed to the plugin. */
export const runAs = <Value>(plugin: string, work: () => Value): Value => running.run(plugin, work)

const isIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value

/** Wraps an iterable, because the plugin's code also produces each item. */
function iterateAs (plugin: string, iterable: AsyncIterable<unknown>): AsyncIterable<unknown> {
  return {
    [Symbol.asyncIterator] () {
      const iterator = iterable[Symbol.asyncIterator]()
      return {
        next: () => runAs(plugin, () => iterator.next()),
        return: async () => await runAs(plugin, () => iterator.return?.()) ?? { done: true, value: undefined }
      }
    }
  }
}

/** Returns a copy of the definition whose functions run in the plugin's async context. */
export function attributeCalls<Definition extends object> (plugin: string, definition: Definition): Definition {
  const paths = Object.keys(METHODS).filter((path) => findMethod(definition, path) !== undefined)
  return withMethods(definition, paths, (path) => (...args) => {
    const answer = runAs(plugin, () => findMethod(definition, path)?.(...args))
    return isIterable(answer) ? iterateAs(plugin, answer) : answer
  })
}

/** Ends the process at an unhandled error, unless a plugin caused it: then all other work continues. */
export function exitOnServerErrors (log: () => Pick<FastifyBaseLogger, 'error' | 'fatal'>, message: string): void {
  process.on('uncaughtException', (err) => {
    const plugin = running.getStore()
    if (plugin !== undefined) {
      log().error({ err, plugin }, 'plugin has an unhandled error; its process continues')
      return
    }
    log().fatal({ err }, message)
    process.exit(1)
  })
}

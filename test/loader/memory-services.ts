import type { PluginServices } from '../../core/plugin-context.ts'

/** Services of a plugin that keep nothing and reach nothing. */
export function createMemoryServices (): PluginServices {
  const kept = new Map<string, unknown>()
  const refuse = async () => { throw new Error('Nothing goes out from here') }
  const http = { request: refuse, json: refuse, text: refuse, close: async () => {}, withSignal: () => http }
  return {
    config: {},
    http,
    log: { debug () {}, info () {}, warn () {}, error () {} },
    cache: {
      get: async (key) => kept.get(key),
      async set (key, value) { kept.set(key, value) },
      async delete (key) { kept.delete(key) }
    },
    files: { readText: async () => null, list: async () => [], exists: async () => false }
  }
}

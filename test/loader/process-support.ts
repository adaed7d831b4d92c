import fastify from 'fastify'
import { loadPlugins } from '../../core/loader/loader.ts'
import type { PluginPackage } from '../../core/loader/packages/packages.ts'
import { createMemoryServices } from './memory-services.ts'
import { type Teardown, config } from './troublemaker.ts'

export const START_TIMEOUT_MS = 8_000

export async function load (t: Teardown, dataDir: string, packages: PluginPackage[]) {
  const app = fastify()
  t.teardown(() => app.close())
  const registry = await loadPlugins(app, {
    config,
    packages,
    runsPlugins: true,
    startTimeoutMs: START_TIMEOUT_MS,
    createServices: (_kind, _key, { config: values }) => createMemoryServices(values, dataDir)
  })
  await app.ready()
  return registry
}

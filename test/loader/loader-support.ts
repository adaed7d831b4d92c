import { join } from 'node:path'
import fastify from 'fastify'
import { type Test } from 'tap'
import { features } from '../../plugins/index.ts'
import { loadPlugins } from '../../core/loader/loader.ts'
import { type PluginPackage, linkSdk, listPluginPackages } from '../../core/loader/packages/packages.ts'
import { loadConfig } from '../load-config.ts'
import { createMemoryServices } from './memory-services.ts'

export const serverFields = await features.loadFieldNames()

/** Long enough for correct plugins, even on a busy machine. */
export const START_TIMEOUT_MS = 4_000

export async function load (t: Pick<Test, 'teardown'>, dataDir: string, packages: PluginPackage[], works = true) {
  const { config } = loadConfig({ SVC_DATA_DIR: dataDir, SVC_AUTH_SECRET_KEY: 'a key for tests only' })
  const app = fastify()
  t.teardown(() => app.close())
  linkSdk(dataDir)
  const registry = await loadPlugins(app, {
    config,
    packages,
    runsPlugins: works,
    startTimeoutMs: START_TIMEOUT_MS,
    serverFields,
    createServices: (_kind, _key, { config: values }) => createMemoryServices(values, dataDir)
  })
  await app.ready()
  return { registry }
}

/**
 * Returns the fixtures as packages that run in this process, which is faster; test/loader/process.test.ts runs them in
 * separate processes.
 */
export const listInstalled = (dataDir: string): PluginPackage[] =>
  listPluginPackages(dataDir, join(dataDir, 'no-server')).map((pack) => ({ ...pack, origin: 'built-in' }))

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as sdk from '@svc/plugin-sdk'
import type { PluginKind } from '@svc/plugin-sdk'
import fastify, { type FastifyBaseLogger } from 'fastify'
import pg from 'pg'
import { pino } from 'pino'
import type { Test } from 'tap'
import database from '../../core/database/database.ts'
import { createHostId } from '../../core/process/host.ts'
import workers from '../../core/jobs/workers.ts'
import type { CallScope } from '../../core/loader/calls/call-scope.ts'
import { readPreferences } from '../../core/loader/context.ts'
import { loadPlugins } from '../../core/loader/loader.ts'
import { createMemo } from '../../core/loader/calls/memo.ts'
import { findMethod, METHODS, withMethods } from '../../core/loader/descriptor.ts'
import type { PluginRecord } from '../../core/loader/registry.ts'
import { createPluginServices } from '../../core/loader/services.ts'
import { createHost } from '../../plugins/channels/host/channel-host.ts'
import { migrations } from '../../plugins/migrations.ts'
import { readRequest, startServer } from '../core/http/server.ts'
import { makeZip } from '../plugins/hashing/fixtures.ts'
import { loadConfig } from '../load-config.ts'
import { createTestDatabase } from '../support.ts'
import { APART, install } from './troublemaker.ts'

export const TOKEN = 'hunter2-hunter2'

/** Starts the service that the fixtures use. */
export async function startService (t: Test) {
  const zip = await makeZip([
    { name: 'a.txt', bytes: Buffer.from('text of a') }, { name: 'b.txt', bytes: Buffer.alloc(200_000, 'b') }
  ])
  return await startServer(t, async (request, response) => {
    const [path] = (request.url ?? '').split('?')
    if (path === '/missing') response.statusCode = 404
    if (path === '/json') response.setHeader('content-type', 'application/json')
    const { 'content-type': type, 'x-own': own } = request.headers
    if (path === '/json') response.end(JSON.stringify([request.url, own]))
    else if (path === '/echo') response.end(JSON.stringify([type, await readRequest(request)]))
    else if (path === '/zip') response.end(zip)
    else response.end(path === '/long' ? 'x'.repeat(300_000) : 'no JSON at all')
  })
}

/** Starts the fixture of a kind, in the test's own process or in a separate one, with the services of a server. */
export async function startWhole (
  t: Test, kind: PluginKind, origin: PluginRecord['origin'], settings: Readonly<Record<string, unknown>>
) {
  const { dataDir, packages } = install(t, [`whole-${kind}`], APART)
  const libraryDir = join(dataDir, 'library')
  const place = join(dataDir, 'place')
  for (const folder of [libraryDir, place]) {
    mkdirSync(join(folder, 'a'), { recursive: true })
    writeFileSync(join(folder, 'a', 'b.txt'), `text in ${folder === place ? 'its folder' : 'the library'}`)
  }
  writeFileSync(join(dataDir, 'outside.txt'), 'nobody reads this')
  const own = { whole: kind === 'provider' ? { ...settings, place } : settings }
  writeFileSync(join(dataDir, 'config.yml'), JSON.stringify(kind === 'exporter' ? { scan: own } : { plugins: own }))
  const { config } = loadConfig({
    SVC_DATA_DIR: dataDir, SVC_LIBRARY_DIR: libraryDir, SVC_AUTH_SECRET_KEY: 'a key for tests only'
  })
  const lines: unknown[] = []
  const logger: FastifyBaseLogger = pino({ base: null, timestamp: false }, {
    write (line) { if (line.includes('"plugin"')) lines.push(JSON.parse(line)) }
  })
  const app = fastify({ loggerInstance: logger })
  t.teardown(() => app.close())
  const url = await createTestDatabase(t)
  await app.register(database, { url, poolSize: 2, entities: [], migrations })
  await app.register(workers, { url, role: 'worker', isSupervised: false, host: { id: createHostId(), address: null } })
  const registry = await loadPlugins(app, {
    config, runsPlugins: true, packages: packages.map((pack) => ({ ...pack, origin })),
    createServices: await createPluginServices(app, config)
  })
  app.decorate('registry', registry)
  const host = createHost(app, config)
  await app.ready()
  const called = new Set<string>()
  const { providers, channels, exporters } = registry
  for (const loaded of [providers, channels, exporters].flatMap((map) => [...map.values()])) countCalls(loaded, called)
  const scopeOf = (more: Partial<CallScope> = {}): CallScope => ({
    signal: new AbortController().signal, memo: createMemo(), preferences: readPreferences(config), ...more
  })
  return {
    app,
    registry,
    host,
    lines,
    called,
    scopeOf,
    dataDir,
    /** Closes the app and returns the stored values. */
    async close (): Promise<unknown> {
      await app.close()
      const client = new pg.Client(url)
      await client.connect()
      const { rows } = await client.query('select key, value from plugin_cache order by key')
      await client.end()
      return rows
    }
  }
}
export type Whole = Awaited<ReturnType<typeof startWhole>>

/** Records which functions of a definition are called. */
function countCalls (loaded: { definition: object }, called: Set<string>): void {
  const { definition } = loaded
  const paths = Object.keys(METHODS).filter((path) => findMethod(definition, path) !== undefined)
  loaded.definition = withMethods(definition, paths, (path) => (...args) => {
    called.add(path)
    return findMethod(definition, path)?.(...args)
  })
}

/** Returns everything that a caller can see of an error. */
export function describe (err: unknown): unknown {
  const { name, message, ...rest } = err as Error & Record<string, unknown>
  const known = Object.entries(sdk).find(([key]) => key === (err as Error).constructor.name)?.[0]
  return { name, message, known, ...rest }
}

/** Returns the result or the error of a call. */
export const outcomeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then((value) => ({ value }), (err: unknown) => ({ thrown: describe(err) }))

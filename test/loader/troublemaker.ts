import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Match, ProviderContext, Rom } from '@svc/plugin-sdk'
import type { Test } from 'tap'
import type { CallScope } from '../../core/loader/calls/call-scope.ts'
import { type PluginServices, createContext, readPreferences } from '../../core/loader/context.ts'
import { createMemo } from '../../core/loader/calls/memo.ts'
import { linkSdk, listPluginPackages } from '../../core/loader/packages/packages.ts'
import { PluginProcess } from '../../core/loader/process/plugin-process.ts'
import type { PluginRecord } from '../../core/loader/registry.ts'
import { loadConfig } from '../load-config.ts'
import { buildTestApp } from '../support.ts'
import { until } from '../until.ts'
import { installFixtures } from './install.ts'
import { createMemoryServices } from './memory-services.ts'

export const APART = fileURLToPath(new URL('apart/', import.meta.url))
/** Long enough that a busy machine is not taken for a hang; hanging uses no processor time. */
const PING_MS = 5_000
export const { config } = loadConfig({ SVC_AUTH_SECRET_KEY: 'a key for tests only' })

export type Teardown = Pick<Test, 'teardown'>

export function install (t: Teardown, fixtures: readonly string[], folder?: string) {
  const dataDir = installFixtures(t, fixtures, folder)
  linkSdk(dataDir)
  return { dataDir, packages: listPluginPackages(dataDir, join(dataDir, 'no-server')) }
}

export const scopeOf = (signal: AbortSignal = new AbortController().signal): CallScope =>
  ({ signal, memo: createMemo(), preferences: readPreferences(config) })

/** Starts the plugin that performs the requested action, in its process. */
export async function startTroublemaker (
  t: Teardown, services?: (dataDir: string) => PluginServices, idlePingMs?: number
) {
  const { dataDir, packages: [pack] } = install(t, ['troublemaker'], APART)
  if (pack?.entry === undefined || pack.entry === null) throw new Error('The fixture has no entry')
  const changes: (string | null)[] = []
  const process = new PluginProcess({
    pack: { ...pack, entry: pack.entry },
    log: { info () {}, warn () {} },
    onChange (reason) { changes.push(reason) },
    importMs: 10_000,
    pingMs: PING_MS,
    idlePingMs,
    restartMs: () => 1
  })
  t.teardown(() => { process.end() })
  await process.load()
  const given = services?.(dataDir) ?? createMemoryServices({ password: 'x' }, dataDir)
  const open = (scope: CallScope): ProviderContext => createContext(given, scope)
  await process.setUp(() => open(scopeOf()))
  const identify = process.call('identify')
  return {
    process,
    dataDir,
    open,
    changes,
    /** Returns its result, which is the id of its match. */
    async tell (deed: string, scope: CallScope = scopeOf()): Promise<string> {
      const match = await identify({ fs_name: deed }, open(scope)) as Match
      return String(match.id)
    },
    async untilBack (): Promise<void> {
      await until(async () => changes.at(-1) === null, 'the plugin is started again')
    }
  }
}

/** Actions, and the reasons that they cause. */
const CRASHES = {
  crash: /code 3/,
  timer: /out of the blue/,
  rejection: /nobody caught this/,
  'crash-import': /code 4/,
  'crash-setup': /code 5/
}
const HANGS = {
  hang: /did not answer/,
  'hang-import': /loading it does not end/,
  'hang-setup': /did not answer|setup does not end/
}
const HANG_MS = 50
/** The numbers of calls and requests to others while one plugin fails. */
const CALLS = 20
const REQUESTS = 5

/** Returns the given number of actions, repeated in order. */
function listDeeds (deeds: Readonly<Record<string, RegExp>>, times: number): [string, RegExp][] {
  const known = Object.entries(deeds)
  return Array.from({ length: times }, (_, time) => known[time % known.length] ?? ['crash', /./])
}

/**
 * Makes one plugin crash and hang that many times: in a call, from a timer, during its import and in its setup.
 * Meanwhile the server answers requests and another plugin works.
 *
 * @returns the work of the others meanwhile
 */
export async function makeTrouble (t: Test, crashes: number, hangs: number) {
  const { dataDir, packages } = install(t, ['troublemaker', 'steady'], APART)
  // A copy, because its mood file is changed.
  const folder = join(dataDir, 'plugins', 'node_modules', 'svc-provider-troublemaker')
  rmSync(folder)
  cpSync(join(APART, 'troublemaker'), folder, { recursive: true })
  const mood = join(folder, 'mood.txt')
  const { app, worker, admin } = await buildTestApp(t, {
    packages, worker: true, loading: { startTimeoutMs: 8_000, timeouts: { pingMs: PING_MS, restartMs: () => 1 } }
  })
  const done = { calls: 0, requests: 0, slowestMs: 0 }

  async function call (key: string, deed: string, signal?: AbortSignal): Promise<unknown> {
    const loaded = worker?.registry.providers.get(key)
    const rom = { fs_name: deed } as Rom
    const match = await loaded?.definition.identify?.(rom, loaded.context(scopeOf(signal)) as never)
    return (match as Match).id
  }
  async function request (): Promise<number> {
    const before = performance.now()
    const { statusCode } = await app.inject({ url: '/api/plugins', headers: admin })
    done.slowestMs = Math.max(done.slowestMs, performance.now() - before)
    return statusCode
  }
  /** Checks that the server and the other plugin still work. */
  async function workOn (): Promise<void> {
    const names = Array.from({ length: CALLS }, (_, number) => `game ${number}`)
    const [answers, statuses] = await Promise.all([
      Promise.all(names.map((name) => call('steady', name))), Promise.all(Array.from({ length: REQUESTS }, request))
    ])
    t.same(answers, names)
    t.same(statuses, Array.from({ length: REQUESTS }, () => 200))
    t.ok(app.registry.providers.has('troublemaker'), 'one that is down for a while is a source all the same')
    done.calls += CALLS
    done.requests += REQUESTS
  }
  /** Waits for a state in the worker, and in the web worker that is notified. */
  async function untilBoth (what: string, isIt: (record: PluginRecord) => boolean): Promise<void> {
    for (const one of [worker, app]) {
      const records = one?.registry.records.filter(({ key }) => key === 'troublemaker')
      await until(async () => records?.some(isIt), what)
    }
  }
  const reasons: string[] = []
  worker?.registry.onChange(() => { reasons.push(...worker.registry.records.flatMap(({ reason }) => reason ?? [])) })

  for (const [deed, reason] of [...listDeeds(CRASHES, crashes), ...listDeeds(HANGS, hangs)]) {
    const isBefore = deed.includes('-')
    reasons.length = 0
    if (isBefore) writeFileSync(mood, deed)
    const limit = AbortSignal.timeout(deed === 'hang' ? HANG_MS : 30_000)
    const trouble = call('troublemaker', isBefore ? 'crash' : deed, limit)
    await Promise.all([t.rejects(trouble, deed), workOn()])
    await until(async () => reasons.some((told) => reason.test(told)), `the reason of ${deed}`)
    if (isBefore) {
      await untilBoth(`its owner to read of ${deed}`, (record) => reason.test(record.reason ?? ''))
      await workOn()
      rmSync(mood)
    }
    await untilBoth('the plugin to work again', ({ status }) => status === 'active')
    t.equal(await call('troublemaker', 'answer back'), 'back')
  }
  return done
}

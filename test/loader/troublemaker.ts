import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Match, ProviderContext } from '@svc/plugin-sdk'
import type { Test } from 'tap'
import { loadConfig } from '../../core/config/config.ts'
import { type CallScope, type PluginServices, createContext, readPreferences } from '../../core/loader/context.ts'
import { createMemo } from '../../core/loader/memo.ts'
import { linkSdk, listPluginPackages } from '../../core/loader/packages.ts'
import { createPluginProcess } from '../../core/loader/process/plugin-process.ts'
import { until } from '../e2e/server.ts'
import { installFixtures } from './install.ts'
import { createMemoryServices } from './memory-services.ts'

export const APART = fileURLToPath(new URL('apart/', import.meta.url))
const PING_MS = 300
export const { config } = loadConfig({ SVC_AUTH_SECRET_KEY: 'a key for tests only' })

export type Teardown = Pick<Test, 'teardown'>

export function install (t: Teardown, fixtures: readonly string[], folder?: string) {
  const dataDir = installFixtures(t, fixtures, folder)
  linkSdk(dataDir)
  return { dataDir, packages: listPluginPackages(dataDir, join(dataDir, 'no-server')) }
}

export const scopeOf = (signal: AbortSignal = new AbortController().signal): CallScope =>
  ({ signal, memo: createMemo(), preferences: readPreferences(config) })

/** The plugin that does what it is told, in its process. */
export async function startTroublemaker (t: Teardown, services?: (dataDir: string) => PluginServices) {
  const { dataDir, packages: [pack] } = install(t, ['troublemaker'], APART)
  if (pack?.entry === undefined || pack.entry === null) throw new Error('The fixture has no entry')
  const changes: (string | null)[] = []
  const process = createPluginProcess({
    pack: { ...pack, entry: pack.entry },
    log: { info () {}, warn () {} },
    onChange (reason) { changes.push(reason) },
    importMs: 10_000,
    pingMs: PING_MS,
    restartMs: () => 1
  })
  t.teardown(process.end)
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
    /** Its answer, which is the id of what it finds. */
    async tell (deed: string, scope: CallScope = scopeOf()): Promise<string> {
      const match = await identify({ fs_name: deed }, open(scope)) as Match
      return String(match.id)
    },
    async untilBack (): Promise<void> {
      await until('the plugin is started again', async () => changes.at(-1) === null)
    }
  }
}

/** Has one plugin crash and hang, in calls and from timers, that many times each, while another one works. */
export async function makeTrouble (t: Test, times: number): Promise<void> {
  const good = await startTroublemaker(t)
  const bad = await startTroublemaker(t)
  const pid = good.process.pid
  for (let time = 0; time < times; time++) {
    for (const deed of ['crash', 'timer', 'hang']) {
      const before = bad.changes.length
      const trouble = bad.tell(deed, scopeOf(AbortSignal.timeout(deed === 'hang' ? 50 : 30_000)))
      const answers = Promise.all(Array.from({ length: 20 }, (_, number) => good.tell(`answer ${number}`)))
      await t.rejects(trouble, deed)
      t.equal((await answers).length, 20)
      await until('the process ended', async () => bad.changes.length > before)
      await bad.untilBack()
    }
  }
  t.equal(good.process.pid, pid)
  t.same(good.changes, [])
}

import { execFile } from 'node:child_process'
import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { SDK_VERSION } from '@svc/plugin-sdk'
import type { Test } from 'tap'
import { SERVER_DIR } from '../../core/server-dir.ts'
import { runSvc } from '../e2e/server.ts'
import { buildPackage } from '../loader/build.ts'
import { runCommand } from '../run-command.ts'

export const KINDS = ['provider', 'channel', 'exporter'] as const
type Kind = typeof KINDS[number]
/** Settings that the created provider needs to be active. */
export const KEY = { TIDE_TABLE_API_KEY: 'not-a-real-key' }
type Settings = Record<string, string>

/** Creates a plugin of this kind in `own`, and runs its own tests there. */
export async function createTested (t: Test, kind: Kind, own: string, env: Settings): Promise<void> {
  const created = await runCommand(t, ['plugins', 'create', kind, 'tide-table', own], env)
  t.match(created, { code: 0, output: 'npm test' })
  t.match(created.output, `node "${join(SERVER_DIR, 'core', 'svc.js')}" --data-dir "${env.SVC_DATA_DIR ?? ''}" plugins add .\n`)
  t.match(created.output, `npm pack "${join(SERVER_DIR, 'sdk')}" && npm install --save-dev ./svc-plugin-sdk-${SDK_VERSION}.tgz`)
  symlinkSync(join(SERVER_DIR, 'node_modules'), join(own, 'node_modules'), 'junction')
  const args = ['--conditions=svc:source', '--disable-warning=ExperimentalWarning', 'test/index.test.ts']
  await promisify(execFile)(process.execPath, args, { cwd: own })
  const texts = ['package.json', 'README.md', join('src', 'index.ts')].map((name) => readFileSync(join(own, name), 'utf8'))
  t.notMatch(texts.join('\n'), /minimal/i, 'nothing of the example is left')
}

/** Builds the created plugin in `own` and adds it. */
export async function addCreated (t: Test, kind: Kind, own: string, env: Settings): Promise<void> {
  buildPackage(own)
  t.match(await runSvc(t, ['plugins', 'add', own], env).ended, { code: 0, output: `svc-${kind}-tide-table 0.1.0: active\n` })
}

/** Checks that the plugins of these kinds are listed. */
export async function seeListed (t: Test, kinds: readonly Kind[], env: Settings): Promise<void> {
  const { output } = await runSvc(t, ['plugins'], env).ended
  for (const kind of kinds) t.match(output, new RegExp(`${kind} +tide-table +0\\.1\\.0 +svc-${kind}-tide-table +active`))
}

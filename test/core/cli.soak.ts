import { hash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { SERVER_DIR } from '../../core/server-dir.ts'
import { VERSION } from '../../core/version.ts'
import { createUsedDataDir, runSvc, settings } from '../e2e/server.ts'
import { runCommand } from '../run-command.ts'
import { KEY, KINDS, addCreated, createTested, seeListed } from './created-plugin.ts'
import { execute } from './cli-support.ts'

t.test('a plugin is added from a folder, listed and removed', async (t) => {
  const folder = t.testdir({
    plugin: {
      'package.json': JSON.stringify({
        name: 'svc-exporter-note', version: '1.0.0', type: 'module', exports: './index.js',
        svc: { kind: 'exporter', key: 'note', sdk: '^2' }
      }),
      'index.js': `import { defineExporter } from '@svc/plugin-sdk'
        export default defineExporter({ key: 'note', name: 'Note', fileName: 'note.txt', media: {}, async render () { return '' } })`
    }
  })
  const env = settings(createUsedDataDir(join(folder, 'data')))
  const added = await runSvc(t, ['plugins', 'add', join(folder, 'plugin')], env).ended
  t.match(added, { code: 0, output: /^svc-exporter-note 1\.0\.0: active\n$/ })
  t.notOk(existsSync(join(folder, 'data', 'plugins', 'node_modules', 'svc-exporter-note', 'node_modules')))
  const removed = await runSvc(t, ['plugins', 'remove', 'svc-exporter-note'], env).ended
  t.match(removed, { code: 0, output: /^svc-exporter-note was removed\.\nThe platform folders keep its files: note\.txt\. Delete / })
  t.match(await runCommand(t, ['plugins', 'remove', 'svc-exporter-note'], env),
    { code: 1, output: "svc: No plugin 'svc-exporter-note' was added. There are none.\n" })
})

t.test('a plugin that depends on a folder of this machine is not installed', async (t) => {
  const folder = t.testdir({
    kept: { 'package.json': JSON.stringify({ name: 'kept', version: '1.0.0' }), 'secret.key': 'secret' },
    plugin: {}
  })
  writeFileSync(join(folder, 'plugin', 'package.json'), JSON.stringify({
    name: 'svc-exporter-loot', version: '1.0.0', type: 'module', exports: './index.js',
    svc: { kind: 'exporter', key: 'loot', sdk: '^2' }, dependencies: { kept: `file:${join(folder, 'kept')}` }
  }))
  const { code, output } = await runSvc(t, ['plugins', 'add', join(folder, 'plugin')], settings(createUsedDataDir(join(folder, 'data')))).ended
  t.match({ code, output }, { code: 1, output: /non-root packages of type "directory"/ })
  t.notOk(existsSync(join(folder, 'data', 'plugins', 'node_modules', 'kept')))
})

t.test('a created plugin passes its own tests and is listed, without an edit', async (t) => {
  const folder = t.testdir({})
  const env = settings(createUsedDataDir(join(folder, 'data')), KEY)
  for (const kind of KINDS) await createTested(t, kind, join(folder, kind), env)
  await addCreated(t, 'provider', join(folder, 'provider'), env)
  await seeListed(t, ['provider'], env)
})

t.test('a command uses the stripped code of its data directory from the start', async (t) => {
  const digest = (text: string) => hash('sha256', text)
  const text = 'console.log("without types")'
  const entry = digest(readFileSync(join(SERVER_DIR, 'core', 'composition', 'main.ts'), 'utf8'))
  const holding = (file: string) => ({ run: { stripped: { complete: '', [entry]: file } } })
  const started = () => holding(digest(text) + text)
  const folder = t.testdir({
    option: started(), variable: started(), 'odd # name?': started(), damaged: holding(digest(text) + text.slice(1)), fresh: {}
  })
  const run = async (args: string[], env: Record<string, string> = {}) => {
    const script = join(SERVER_DIR, 'core', 'svc.js')
    return (await execute(process.execPath, [script, ...args, '--version'], { env: { ...process.env, ...env } })).stdout
  }
  t.equal(await run(['--data-dir', join(folder, 'option')]), 'without types\n')
  t.equal(await run([], { SVC_DATA_DIR: join(folder, 'variable') }), 'without types\n')
  t.equal(await run([], { SVC_DATA_DIR: join(folder, 'odd # name?') }), 'without types\n')
  t.equal(await run([], { SVC_DATA_DIR: join(folder, 'damaged') }), `${VERSION}\n`, 'what is not as it was written is not run')
  t.equal(await run([], { SVC_DATA_DIR: join(folder, 'fresh') }), `${VERSION}\n`)
  t.same(readdirSync(join(folder, 'fresh')), [], 'a short command leaves nothing behind')
})

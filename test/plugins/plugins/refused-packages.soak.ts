import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createUsedDataDir, runSvc, settings } from '../../e2e/server.ts'

const NAME = 'svc-exporter-note'

/** A package of an exporter. @property code the key in its code; by default that of its manifest */
interface Package { name?: string, version?: string, key?: string, code?: string, file?: string, route?: string }

function writePlugin (folder: string, { name = NAME, version = '1.0.0', key = 'note', code = key, file = 'note.txt', route = key }: Package = {}): string {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({
    name, version, type: 'module', exports: './index.js', svc: { kind: 'exporter', key, sdk: '^2' }
  }))
  writeFileSync(join(folder, 'index.js'), `import { defineExporter } from '@svc/plugin-sdk'
    export default defineExporter({ key: '${code}', name: 'Note', fileName: '${file}', route: '${route}', media: {}, async render () {} })`)
  return folder
}

function startHost (folder: string) {
  const dataDir = createUsedDataDir(join(folder, 'data'))
  const plugins = join(dataDir, 'plugins')
  const readJson = (...path: string[]) => JSON.parse(readFileSync(join(plugins, ...path), 'utf8')) as Record<string, unknown>
  return {
    add: (path: string) => runSvc(t, ['plugins', 'add', path], settings(dataDir)).ended,
    list: async () => (await runSvc(t, ['plugins', '--json'], settings(dataDir)).ended).output,
    readVersion: (name = NAME) => readJson('node_modules', name, 'package.json').version,
    readNames: () => Object.keys(readJson('package.json').dependencies ?? {}),
    listFolder: () => readdirSync(plugins).filter((name) => name !== 'node_modules').sort()
  }
}

t.test('a package that cannot be used is not installed, and its former version stays', async (t) => {
  const folder = t.testdir({})
  const host = startHost(folder)
  const plugin = join(folder, 'plugin')
  t.match(await host.add(writePlugin(plugin, { code: 'other' })), {
    code: 1,
    output: "svc: svc-exporter-note 1.0.0 was not installed, because it cannot be used: failed: its package.json says key 'note', its " +
      "code 'other'. Correct it, then add it again.\n"
  })
  t.same(host.readNames(), [])
  t.match(await host.add(writePlugin(plugin)), { code: 0, output: 'svc-exporter-note 1.0.0: active\n' })
  t.match(await host.add(writePlugin(plugin, { version: '1.1.0', code: 'other' })), { code: 1, output: /^svc: svc-exporter-note 1\.1\.0 was not/ })
  t.equal(host.readVersion(), '1.0.0')
  t.match(await host.list(), /"svc-exporter-note","version":"1\.0\.0","status":"active"/)
  t.match(await host.add(writePlugin(plugin, { version: '1.1.0' })), { code: 0 })
  t.equal(host.readVersion(), '1.1.0')
  t.same(host.listFolder(), ['package-lock.json', 'package.json'])
})

t.test('a package that is no plugin is not installed', async (t) => {
  const folder = t.testdir({ none: { 'package.json': JSON.stringify({ name: 'none', version: '1.0.0' }) } })
  const host = startHost(folder)
  t.match(await host.add(join(folder, 'none')), { code: 1, output: /^svc: none 1\.0\.0 was not installed, .* it is not a plugin\. Correct it/ })
  t.same(host.readNames(), [])
})

t.test('a plugin with a name of another is not installed in any order of names', async (t) => {
  const folder = t.testdir({})
  const host = startHost(folder)
  t.match(await host.add(writePlugin(join(folder, 'plugin'))), { code: 0 })
  const CLASHES: [Package, string][] = [
    [{ file: 'a.txt' }, "its key 'note'"],
    [{ key: 'a', file: 'a.txt', route: 'note' }, "its route 'note'"],
    [{ key: 'a', file: 'Note.txt' }, "its fileName 'Note.txt'"]
  ]
  for (const name of ['svc-exporter-a', 'svc-exporter-z']) {
    for (const [pack, clash] of CLASHES) {
      t.match(await host.add(writePlugin(join(folder, name), { name, ...pack })), {
        code: 1,
        output: `svc: ${name} 1.0.0 was not installed, because it cannot be used: failed: ${clash} belongs to svc-exporter-note; its ` +
          'author has to choose another, unless you run svc plugins remove svc-exporter-note. Correct it, then add it again.\n'
      })
    }
  }
  const BUILT_IN: [Package, string][] = [
    [{ key: 'gamelist' }, "its key 'gamelist'"],
    [{ name: '@svc/exporter-gamelist', key: 'gamelist' }, "its key 'gamelist'"],
    [{ key: 'a', file: 'gamelist.xml' }, "its fileName 'gamelist.xml'"],
    [{ key: 'a', file: 'a.txt', route: 'gamelist-xml' }, "its route 'gamelist-xml'"]
  ]
  for (const [pack, clash] of BUILT_IN) {
    t.match(await host.add(writePlugin(join(folder, 'built-in'), { name: 'svc-exporter-a', ...pack })), {
      code: 1, output: new RegExp(`: failed: ${clash} belongs to @svc/exporter-gamelist; its author has to choose another\\. Correct it, `)
    })
  }
  t.same(host.readNames(), [NAME])
  t.match(await host.list(), /"svc-exporter-note","version":"1\.0\.0","status":"active"/)
})

import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import type { PluginPackage } from '../../../core/loader/packages/packages.ts'
import { buildExportApp, shareExportApp } from './library.ts'
import { readGamelist, scan } from './exports-support.ts'

const fresh = shareExportApp(t)
const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** Returns an exporter as a built-in plugin, so that it needs no build and no process of its own. */
function exporterPackage (key: string, folder: string, entry: string): PluginPackage {
  return {
    folder, name: `svc-exporter-${key}`, version: '1.0.0', manifest: { kind: 'exporter', key, sdk: '^2' },
    entry: join(folder, entry), origin: 'built-in', problem: null
  }
}

t.test('without a scan worker nothing is exported, and the response says so', async (t) => {
  const { addPlatform, call, worker, snes } = await buildExportApp(t)
  await addPlatform('snes')
  await worker.close()
  const { status, body } = await call('gamelist-xml')
  t.equal(status, 503)
  t.match(body.detail, /worker/)
  t.same(await readdir(snes()), [])
})

t.test('a folder of discs becomes the entry that starts them, one of several games none', async (t) => {
  const { app, admin, call, snes } = await fresh(t, {
    library: {
      roms: {
        snes: {
          'Four Discs': { 'Four Discs.m3u': 'Disc 1.chd', 'Disc 1.chd': '1', 'Disc 2.chd': '2' },
          'One Disc': { 'One Disc.cue': 'FILE "One Disc (Track 1).bin" BINARY', 'One Disc (Track 1).bin': '1', 'notes.txt': 'mine' },
          'Two Discs': { 'Disc 1.cue': 'FILE "1.bin" BINARY', '1.bin': '1', 'Disc 2.cue': 'FILE "2.bin" BINARY', '2.bin': '2' },
          'All Hacks': { 'One.sfc': '1', 'Two.sfc': '2', 'read me.txt': 'mine' },
          'Own Manual': { 'Own Manual.sfc': '1', 'manual.pdf': '2' },
          'PC Game': { 'game.exe': '1', 'setup.exe': '2', data: { 'a.bin': '1' } },
          'Folder.m3u': { 'Folder.m3u': 'Disc 1.chd', 'Disc 1.chd': '1' }
        }
      }
    }
  })
  await scan(app, admin)
  const { body: { files: [file] } } = await call('gamelist-xml')
  const paths = readGamelist(await readFile(snes('gamelist.xml'), 'utf8'))
  t.same([...paths.keys()], [
    './Folder.m3u', './Four Discs/Four Discs.m3u', './One Disc/One Disc.cue', './Own Manual/Own Manual.sfc', './PC Game'
  ])
  t.equal(file.games, 5)
  t.match(file.skipped, [{ reason: /"One\.sfc" and "Two\.sfc"\. Add an \.m3u/ }, { reason: /"Disc 1\.cue" and "Disc 2\.cue"/ }])
})

t.test('an exporter that is off refuses exports with the reason until it is switched on', async (t) => {
  const folder = await mkdtemp(join(ROOT, 'test', 'loader', '.list-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'index.mjs'), `import { Type, defineExporter } from '@svc/plugin-sdk'
    export default defineExporter({
      key: 'list', name: 'List', fileName: 'list.txt', media: {},
      config: Type.Object({ enabled: Type.Boolean({ default: false }) }),
      render: async () => ({ text: 'list', skipped: [] })
    })`)
  const { app, admin, addPlatform, call } = await buildExportApp(t, { packages: [exporterPackage('list', folder, 'index.mjs')] })
  await addPlatform('snes')
  const change = async (payload: object) => {
    const url = '/api/plugins/exporter/list/settings'
    t.equal((await app.inject({ method: 'PUT', url, headers: admin, payload })).statusCode, 200)
  }
  t.match(await call('list'), { status: 409, body: { detail: /^The exporter 'list' .*: off unless .* is true$/ } })
  await change({ enabled: true })
  t.match(await call('list'), { status: 200, body: { files: [{ exporter: 'list' }] } })
  await change({ enabled: false })
  t.match(await call('list'), { status: 409, body: { detail: /^The exporter 'list' .*: switched off in its settings$/ } })
})

t.test('scans skip the files and media folders of every exporter, and so do exports', async (t) => {
  const { app, admin, call, snes } = await buildExportApp(t, {
    packages: [
      exporterPackage('minimal', join(ROOT, 'examples', 'exporter-minimal'), 'src/index.ts'),
      exporterPackage('whole', join(ROOT, 'test', 'loader', 'apart', 'whole-exporter'), 'index.js')
    ]
  })
  await writeFile(snes('Alpha.sfc'), 'alpha')
  const names = async () => {
    await scan(app, admin)
    const { items } = (await app.inject({ url: '/api/roms', headers: admin })).json<{ items: { fs_name: string }[] }>()
    return items.map((rom) => rom.fs_name)
  }
  t.same(await names(), ['Alpha.sfc'])
  t.match(await call('minimal'), { status: 200, body: { files: [{ path: snes('minimal.csv'), games: 1 }] } })
  await writeFile(snes('whole.txt'), 'written by the other exporter')
  await mkdir(snes('papers'))
  await writeFile(snes('papers', 'Alpha.pdf'), 'manual')
  t.same(await names(), ['Alpha.sfc'])
  t.match(await call('minimal'), { status: 200, body: { files: [{ games: 1, written: false }] } })
})

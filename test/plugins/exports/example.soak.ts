import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { buildExportApp, createPicture } from './library.ts'

const MAIN = fileURLToPath(new URL('../../../examples/frontend-export/main.ts', import.meta.url))

t.test('the example exports a library, reads both files back and finds all named files', async (t) => {
  const { app, admin, addPlatform, addRom, addResource, snes } = await buildExportApp(t, {
    library: { roms: { snes: { 'Alpha & Omega.sfc': 'rom' } } }
  })
  const id = await addPlatform('snes')
  const cover = await addResource('roms/1/cover.png', await createPicture('png'))
  await addRom(id, { fs_name: 'Alpha & Omega.sfc', summary: 'One: two\n\nthree', path_cover_large: cover })
  await addRom(id, { fs_name: 'Not there.sfc' })
  const { raw_token: token } = (await app.inject({
    method: 'POST', url: '/api/client-tokens', headers: admin, payload: { name: 'example', scopes: ['roms.write'] }
  })).json<{ raw_token: string }>()
  const url = await app.listen({ port: 0 })

  const { stdout, stderr } = await promisify(execFile)(process.execPath, [MAIN, 'snes'], {
    env: { SVC_URL: url, SVC_TOKEN: token }
  })
  t.equal(stderr, '')
  t.same(stdout.trim().split('\n'), [
    `snes: 2 games, 1 media, 1 of these files missing, written: ${snes('gamelist.xml')}`,
    `snes: 2 games, 2 media, 1 of these files missing, written: ${snes('metadata.pegasus.txt')}`
  ])
})

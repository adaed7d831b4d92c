import { randomBytes } from 'node:crypto'
import { type IncomingMessage, get as httpGet } from 'node:http'
import { buffer } from 'node:stream/consumers'
import t from 'tap'
import { RomFile } from '../../../plugins/roms/entities.ts'
import { shareTestApp } from '../../support.ts'
import { addRom } from './support.ts'
import { listen } from './download-support.ts'

const fresh = shareTestApp(t)

t.test('a download gets its own bytes, also beside slow and aborted ones', async (t) => {
  const contents = ['a.bin', 'b.bin', 'c.bin'].map((name) => ({ name, bytes: randomBytes(3 * 1024 * 1024) }))
  const game = Object.fromEntries(contents.map(({ name, bytes }) => [name, bytes]))
  const test = await fresh(t, { library: { roms: { psx: { Game: game } } } })
  const id = await addRom(test, { fs_name: 'Game', platform: 'psx', files: contents.map(({ name }) => name) })
  const files = await test.app.db.em.find(RomFile, {}, { orderBy: { file_name: 'asc' } })
  const port = await listen(test)
  const open = (path: string) => new Promise<IncomingMessage>((resolve) => {
    httpGet({ port, host: '127.0.0.1', path: `/api/roms/${path}`, headers: test.admin, agent: false }, resolve)
  })
  const paths = files.map((file) => `${file.id}/files/content/x`)
  const whole = await buffer(await open(`${id}/content/x`))
  for (let round = 0; round < 3; round++) {
    const aborted = await Promise.all([...paths, `${id}/content/x`].map(open))
    const wanted = [...paths, `${id}/content/x`].map(async (path) => await buffer(await open(path)))
    for (const reply of aborted) reply.on('error', () => {}).once('data', () => { reply.destroy() })
    const received = await Promise.all(wanted)
    for (const [place, { bytes }] of contents.entries()) t.ok(received[place]?.equals(bytes), `file ${place}`)
    t.ok(received.at(-1)?.equals(whole), 'the zip')
  }
  for (const { name, bytes } of contents) t.ok(whole.includes(bytes), `${name} is in the zip`)
})

import t from 'tap'
import { sha1Of } from './support.ts'
import { startHistory } from './history-support.ts'

const { alice, newRom, readAll } = await startHistory(t)

t.test('concurrent uploads lose no content', async (t) => {
  const rom = await newRom()
  const contents = Array.from({ length: 24 }, (_, i) => `content ${i}`)
  const replies = await Promise.all(contents.map((content, i) => {
    const slot = [{}, { slot: 'a' }, { slot: 'b', autocleanup: true, autocleanup_limit: 1 }][i % 3]
    return alice.send('POST', '/api/saves', { rom_id: rom, ...slot }, [{ name: 'saveFile', fileName: 'Game.srm', content }])
  }))
  t.ok(replies.every(({ statusCode }) => statusCode === 200))
  const all = await readAll(rom)
  for (const content of contents) t.ok(all.has(sha1Of(content)), content)
})

import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { PathRefusedError, openInside } from '../../../core/files/safe-path.ts'

t.test('a folder repeatedly swapped for a link never reveals the secret', async (t) => {
  const dir = t.testdir({ secrets: { 'a.sfc': 'key' }, base: { sub: { 'a.sfc': 'game' } } })
  const script = `
    const fs = require('node:fs')
    process.chdir(process.argv[1])
    fs.symlinkSync('../secrets', 'trap')
    console.log('ready')
    for (;;) {
      fs.renameSync('base/sub', 'kept'); fs.renameSync('trap', 'base/sub')
      fs.renameSync('base/sub', 'trap'); fs.renameSync('kept', 'base/sub')
    }`
  const child = execFile(process.execPath, ['-e', script, dir])
  await new Promise((resolve) => child.stdout?.once('data', resolve))
  const seen = { game: 0, refused: 0, key: 0, moving: 0 }
  while (seen.game < 300 || seen.refused < 300) seen[await readThrough(join(dir, 'base'), 'sub/a.sfc')]++
  child.kill('SIGKILL')
  await new Promise((resolve) => child.once('close', resolve))
  t.equal(seen.key, 0)
})

/** Returns the content, or the reason why there is none. */
async function readThrough (base: string, path: string): Promise<'game' | 'key' | 'refused' | 'moving'> {
  try {
    const handle = await openInside(base, path)
    const content = await readFile(handle, 'utf8')
    await handle.close()
    return content === 'game' ? 'game' : 'key'
  } catch (err) {
    if (err instanceof PathRefusedError) return 'refused'
    if (err instanceof Error && 'code' in err) return 'moving'
    throw err
  }
}

import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { listEntries } from '../../../plugins/entries/entries.ts'
import { collect, exclusionRules, generatePlatform } from '../library/generate-library.ts'
import { FOLDER } from './entries-support.ts'

t.test('a file that vanishes after the folder was read is a problem', async (t) => {
  const library = t.testdir({ roms: { snes: {} } })
  await generatePlatform(join(library, FOLDER), { files: 2_000 })
  const { entries, problems } = listEntries({ libraryDir: library, folder: FOLDER, rules: exclusionRules() })
  const first = await entries.next()
  await rename(join(library, FOLDER), join(library, 'roms/moved'))
  const rest = await collect(entries)
  t.equal(first.done, false)
  t.equal(1 + rest.length + problems.length, 2_000)
  t.ok(problems.length >= 1_000)
  t.equal(problems[0]?.reason, 'it was deleted while the folder was read')
})

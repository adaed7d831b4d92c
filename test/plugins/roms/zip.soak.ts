import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createZip } from '../../../plugins/roms/downloads/zip.ts'
import { textContent } from '../../../plugins/roms/downloads/zip-content.ts'
import { PYTHON, python } from './python.ts'
import { openZip, whole } from './zip-support.ts'

t.test('a zip with more than 65,535 members lists all of them', async (t) => {
  const zip = createZip(Array.from({ length: 66_000 }, (_, i) => ({ name: `f${i}`, content: textContent(String(i)) })))
  const bytes = await whole(zip)
  t.equal(bytes.length, zip.size)
  t.equal((await openZip(bytes)).entryCount, 66_000)
  if (!PYTHON) return
  const file = join(t.testdir(), 'many.zip')
  writeFileSync(file, bytes)
  t.equal(python('z = zipfile.ZipFile(sys.argv[1])\nprint(len(z.namelist()), z.read("f65999"))', file), "66000 b'65999'")
})

// Removes the engines that the bundled Node satisfies from package-lock.json: npm run lock
// npm compares engines with the Node that runs npm, which may be older, and would warn in vain. The bundled Node gets
// the engines of older versions, because npm then skips it where it is not needed: 190 MB. Packages that nothing here
// uses go too.
import { readFile, writeFile } from 'node:fs/promises'
import { withoutEngines } from './engines.ts'
import type { Lockfile } from './lockfile.ts'
import { withoutUnused } from './unused-packages.ts'

const LOCKFILE = new URL('../package-lock.json', import.meta.url)

const text = await readFile(LOCKFILE, 'utf8')
const { lockfile, unmet } = withoutEngines(JSON.parse(text) as Lockfile)
await writeFile(LOCKFILE, `${JSON.stringify(withoutUnused(lockfile), null, 2)}\n`)
for (const line of unmet) process.stderr.write(`${line}\n`)

// Compares the Node programs in npm packages with those of nodejs.org: node .ci/check-node-programs.ts
// Needs the internet, downloads some 500 MB, and ends non-zero if a program differs or cannot be downloaded.
import { readFile } from 'node:fs/promises'
import { isPublished, listPrograms } from './node-programs.ts'

const DIST = 'https://nodejs.org/dist'
type Lockfile = Parameters<typeof listPrograms>[0]

const lockfile = JSON.parse(await readFile(new URL('../package-lock.json', import.meta.url), 'utf8')) as Lockfile
for (const program of listPrograms(lockfile)) {
  const name = `${program.package} ${program.version}`
  try {
    const isSame = await isPublished(program, DIST)
    process.stdout.write(`${name}: ${isSame ? 'as published' : 'DIFFERS from what is published'}\n`)
    if (!isSame) process.exitCode = 1
  } catch (err) {
    process.stderr.write(`${name}: not compared: ${err instanceof Error ? err.message : String(err)}\n`)
    process.exitCode = 1
  }
}

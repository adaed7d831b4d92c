// Takes the engines out of package-lock.json that the Node which comes along satisfies: npm run lock
// npm compares them with the Node that it runs on itself, which may be older, and warns of nothing. That Node is given the
// engines of the older ones, so that npm leaves it out where it is not needed: 190 MB.
import { readFile, writeFile } from 'node:fs/promises'
import { withoutEngines } from './engines.ts'

const LOCKFILE = new URL('../package-lock.json', import.meta.url)

const text = await readFile(LOCKFILE, 'utf8')
const { lockfile, unmet } = withoutEngines(JSON.parse(text) as Parameters<typeof withoutEngines>[0])
await writeFile(LOCKFILE, `${JSON.stringify(lockfile, null, 2)}\n`)
for (const line of unmet) process.stderr.write(`${line}\n`)

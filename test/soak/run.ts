import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { listSoakFiles } from '../grouped/write-groups.ts'

const SOAK_SECONDS = 7_200

// Runs the named files; all of this folder and all long tests of features if none is named.
const isWhole = process.argv.slice(2).every((arg) => arg.startsWith('-'))
const listOwnFiles = () =>
  readdirSync(import.meta.dirname).filter((name) => name.endsWith('.soak.ts')).map((name) => join('test', 'soak', name))
process.argv.push(`--timeout=${SOAK_SECONDS}`, ...isWhole ? [...listOwnFiles(), ...listSoakFiles()] : [])
await import('../run.ts')

import { readdirSync } from 'node:fs'
import { join } from 'node:path'

const SOAK_SECONDS = 7_200

// Runs the named files of this folder; all of them if none is named.
const isWhole = process.argv.slice(2).every((arg) => arg.startsWith('-'))
const files = isWhole ? readdirSync(import.meta.dirname).filter((name) => name.endsWith('.soak.ts')) : []
process.argv.push(`--timeout=${SOAK_SECONDS}`, ...files.map((name) => join('test', 'soak', name)))
await import('../run.ts')

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { type Session, exchangeCode, registerDevice } from './server.ts'
import { sync } from './sync.ts'

const USAGE = `Keeps a folder of saves in step with an svc server.

  node main.ts pair <server> <code> [folder]   pairs this device; the code is from the server's "pair" of a client token
  node main.ts sync [folder]                   brings both sides up to date

The folder is the current one by default. Saves are named after their game: "Chrono Trigger (USA).srm".`

const stateOf = (folder: string) => resolve(folder, '.companion.json')

async function pair (server: string, code: string, folder: string): Promise<void> {
  const base = server.replace(/\/+$/, '')
  const token = await exchangeCode(base, code)
  const device = await registerDevice({ base, token }, {
    name: hostname(), platform: process.platform, hostname: hostname(), sync_mode: 'push_pull',
    paths: { roms: '', saves: resolve(folder), states: resolve(folder) }
  })
  const session: Session = { base, token, device_id: device.id }
  // The token is as good as a password, so other users of this machine must not read it.
  writeFileSync(stateOf(folder), JSON.stringify(session), { mode: 0o600 })
  console.log(`Paired with ${base} as device ${device.id}`)
}

async function run ([command, ...args]: string[]): Promise<void> {
  if (command === 'pair' && args[0] !== undefined && args[1] !== undefined) {
    await pair(args[0], args[1], args[2] ?? '.')
    return
  }
  if (command !== 'sync') throw new Error(USAGE)
  const folder = resolve(args[0] ?? '.')
  if (!existsSync(stateOf(folder))) throw new Error(`'${folder}' is not paired yet.\n\n${USAGE}`)
  const session = JSON.parse(readFileSync(stateOf(folder), 'utf8')) as Session
  const { done, failed } = await sync(session, folder, console.log)
  console.log(`${done} done, ${failed} failed`)
  if (failed > 0) process.exitCode = 1
}

run(process.argv.slice(2)).catch((err: unknown) => {
  console.error(err instanceof Error ? err.message : err)
  process.exitCode = 1
})

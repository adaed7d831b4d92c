import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createEmulator } from './emulator.ts'
import { createBroker } from './server.ts'
import { readSettings } from './settings.ts'

const settings = readSettings(process.env)
const emulator = createEmulator(settings)
const server = createBroker(emulator, settings.secret)
server.listen(settings.port)
await once(server, 'listening')
console.log(`Listening on port ${(server.address() as AddressInfo).port}, with cores for ${[...settings.cores.keys()].join(', ')}`)

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    server.close()
    server.closeAllConnections()
    emulator.stop().catch((err: unknown) => { console.error(err) })
  })
}

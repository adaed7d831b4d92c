import type { AddressInfo } from 'node:net'
import { type TestApp } from '../../support.ts'

/** Opens the port of the shared server, if it is not open yet. */
export async function listen ({ app }: TestApp): Promise<number> {
  if (!app.server.listening) await app.listen({ port: 0, host: '127.0.0.1' })
  return (app.server.address() as AddressInfo).port
}

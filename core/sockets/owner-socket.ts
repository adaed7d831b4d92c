import { join } from 'node:path'

/** Returns the path of a web worker's local socket, by the worker's key (session-owner.ts). */
export function ownerSocket (folder: string, owner: string): string {
  return process.platform === 'win32'
    ? `\\\\.\\pipe\\svc-${Buffer.from(folder).toString('base64url').slice(-60)}-${owner}`
    : join(folder, `web-${owner}.sock`)
}

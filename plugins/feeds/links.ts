import type { FastifyRequest } from 'fastify'
import { readUrlToken } from '../../core/access/auth.ts'
import { type Config, basePath } from '../../core/config/config.ts'
import type { Addresses } from '../resources/addresses.ts'

/** The absolute addresses that a feed names. */
export interface Links {
  rom (rom: { id: number, fs_name: string }): string
  file (file: { id: number, file_name: string }): string
  /** Of a picture in the resources folder; it opens without a credential. */
  picture (path: string): string
}

/** Where this request was sent, prefix included. The configured address says better than a proxy whether it has TLS. */
function baseUrlOf ({ protocol, host }: FastifyRequest, config: Config): string {
  const configured = config.server.base_url.replace(/\/+$/, '')
  return host === '' || new URL(configured).host === host ? configured : `${protocol}://${host}${basePath(config)}`
}

/** Names say what a program saves; the routes find files by id alone. */
const encodeName = (name: string) => encodeURIComponent(name.toWellFormed())

/** Who asks with a token in the address can show it in no other way, so it goes on to what is downloaded. */
export function createLinks (request: FastifyRequest, config: Config, addresses: Addresses): Links {
  const base = baseUrlOf(request, config)
  const token = readUrlToken(request)
  const query = token === null ? '' : `?token=${encodeURIComponent(token)}`
  return {
    rom: ({ id, fs_name: name }) => `${base}/api/roms/${id}/content/${encodeName(name)}${query}`,
    file: ({ id, file_name: name }) => `${base}/api/roms/${id}/files/content/${encodeName(name)}${query}`,
    picture: (path) => `${base}${addresses.locate(path)}`
  }
}

import type { FastifyRequest } from 'fastify'
import { readUrlToken } from '../../core/access/auth.ts'
import type { Config } from '../../core/config/config.ts'
import { basePath } from '../../core/config/base-url.ts'
import type { Addresses } from '../resources/addresses.ts'

/** The absolute addresses in a feed. */
export interface Links {
  rom (rom: { id: number, fs_name: string }): string
  file (file: { id: number, file_name: string }): string
  /** Returns the address of a picture in the resources folder. It needs no credential. */
  picture (path: string): string
}

/**
 * Returns the base address of a request, with its prefix. The configured address knows better than a proxy if TLS is
 * used.
 */
function baseUrlOf ({ protocol, host }: FastifyRequest, config: Config): string {
  const configured = config.server.base_url.replace(/\/+$/, '')
  return host === '' || new URL(configured).host === host ? configured : `${protocol}://${host}${basePath(config)}`
}

/** Names in addresses tell a program how to name the saved file. The routes find files by id alone. */
const encodeName = (name: string) => encodeURIComponent(name.toWellFormed())

/**
 * Creates the links of a feed. A token in the request's address is repeated in each link, because such a client can
 * send it in no other way.
 */
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

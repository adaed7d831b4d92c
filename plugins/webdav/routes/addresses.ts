import type { FastifyReply, FastifyRequest } from 'fastify'
import { Readable } from 'node:stream'
import type { Config } from '../../../core/config/config.ts'
import { basePath } from '../../../core/config/base-url.ts'
import { ApiError, badRequest } from '../../../core/errors.ts'
import { type Resource, renderMultistatus } from '../tree/multistatus.ts'

export const ROOT = '/webdav'
/** The address of the sync in RomM. */
export const ROMM_ROOT = '/api/cloud-sync'
export const LIBRARY = `${ROOT}/library`

/** Returns the address of a root as clients see it. */
export const addressOf = (config: Config, root: string): string => `${basePath(config)}${root}`

/**
 * Returns the decoded path of a request below a root, without slashes at its ends. The router's own parameter is not
 * used, because it decodes escaped slashes and percent signs in its own way.
 */
export function pathBelow ({ url }: FastifyRequest, root: string): string {
  const path = (url.split('?', 1)[0] ?? '').slice(root.length).replace(/^\/+|\/+$/g, '')
  try {
    return decodeURIComponent(path)
  } catch {
    throw badRequest(`The address '${path.slice(0, 100)}' is not percent-encoded as UTF-8; write a percent sign as %25`)
  }
}

/** Returns the parts of a path; none for the root itself. */
export const partsOf = (path: string): string[] => path === '' ? [] : path.split('/')

/** @throws ApiError FORBIDDEN unless the request names a depth of 0 or 1 (RFC 4918, 9.1) */
export function readDepth ({ headers: { depth } }: FastifyRequest): 0 | 1 {
  if (depth === '0') return 0
  if (depth === '1') return 1
  throw new ApiError('FORBIDDEN', 'Folders can only be listed one by one; send the header Depth with 0 or 1')
}

/** Sends resources while they are read. */
export function sendResources (reply: FastifyReply, resources: AsyncIterable<Resource>): FastifyReply {
  return reply.code(207).type('application/xml; charset=utf-8').send(Readable.from(renderMultistatus(resources)))
}

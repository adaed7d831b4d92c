import type { FastifyInstance } from 'fastify'
import type { Tagger } from './tags/tagger.ts'

/** The services of this feature's functions: the server, the tag reader, and the folder of artwork and manuals. */
export interface RomFileServices {
  app: FastifyInstance
  tagger: Tagger
  resourcesDir: string
}

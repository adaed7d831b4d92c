import { ServiceDownError, type HttpResponse } from '@svc/plugin-sdk'
import type { ResponseContent } from './cache.ts'
import type { Mask } from './mask.ts'

/** A response, and whether it came from the cache or another request. */
export type ClientResponse = ResponseContent & Pick<HttpResponse, 'isReused'>

const QUOTED_CHARACTERS = 80

/** Converts a response. @param nameRequest returns the name of the request for messages */
export function toResponse (
  { status, headers, bytes, isReused }: ClientResponse, nameRequest: () => string, mask: Mask
): HttpResponse {
  const text = () => decodeText(bytes, headers['content-type'])
  return {
    status,
    headers,
    bytes,
    isReused,
    text,
    json () {
      try {
        return JSON.parse(decodeText(bytes)) as unknown
      } catch {
        // The parser's own error quotes the body, which may contain secrets.
        const start = mask.text(text()).slice(0, QUOTED_CHARACTERS)
        throw new ServiceDownError(`${nameRequest()} answered ${status} with '${start}', which is not JSON; try again later`)
      }
    }
  }
}

const UTF8 = new TextDecoder()

function decodeText (bytes: Uint8Array, contentType = ''): string {
  const charset = /charset="?([\w-]+)/i.exec(contentType)?.[1]
  return (charset === undefined ? UTF8 : createDecoder(charset)).decode(bytes)
}

/** Creates the decoder of a charset. An unknown charset is read as UTF-8, which keeps at least all ASCII. */
function createDecoder (charset: string): { decode (bytes: Uint8Array): string } {
  try {
    return new TextDecoder(charset)
  } catch {
    return UTF8
  }
}

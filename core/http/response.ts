import { ServiceDownError, type HttpResponse } from '@svc/plugin-sdk'
import type { Answer } from './cache.ts'
import type { Mask } from './mask.ts'

/** An answer, and whether it was kept from an earlier request. */
export type GivenAnswer = Answer & Pick<HttpResponse, 'isReused'>

const QUOTED_CHARACTERS = 80

/** @param nameRequest what messages call the request */
export function toResponse (
  { status, headers, bytes, isReused }: GivenAnswer, nameRequest: () => string, mask: Mask
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
        // The parser's own error quotes the body, which may hold what must not be shown.
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

/** An unknown charset is read as UTF-8, which at least keeps everything ASCII. */
function createDecoder (charset: string): { decode (bytes: Uint8Array): string } {
  try {
    return new TextDecoder(charset)
  } catch {
    return UTF8
  }
}

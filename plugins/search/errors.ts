import { defineError } from '../../core/errors.ts'

/** All providers of a search refused their API key. */
export const keyRefused = defineError('KEY_REFUSED', 502, 'A metadata provider refused its API key')

/** No provider is there to answer. The status is 500, because clients of the API show the text of this one. */
export const noProvider = defineError('NO_PROVIDER', 500, 'No metadata providers enabled')

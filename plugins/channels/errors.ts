import { defineError } from '../../core/errors.ts'

/** The confirmation code of a channel could not be sent. */
export const codeNotSent = defineError('CODE_NOT_SENT', 502, 'The confirmation code could not be sent')

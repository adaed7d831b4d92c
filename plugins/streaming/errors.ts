import { defineError } from '../../core/errors.ts'

/** The player has to decide something before the game starts. */
export const decisionNeeded = defineError('DECISION_NEEDED', 428, 'The request needs a decision of the caller; send the decision with it')

/** The broker of a machine refused an order. */
export const brokerFailed = defineError('BROKER_FAILED', 502, 'The streaming broker failed to do this')

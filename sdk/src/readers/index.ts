export {
  isFields, parseJson, readDate, readFields, readHtml, readId, readInteger, readNames, readNumber, readNumeric,
  readRating, readText, readTexts, readUrl, toFieldsList, unique, withoutEmpty, type Fields
} from './fields.ts'
export { parseDate, type PartialDate } from './dates.ts'
export { toPlainText } from './text.ts'
export { listMedia } from './media.ts'
export { youtubeVideoId } from './videos.ts'

/** What is wrong with a backup, in a sentence for the operator. */
export class BackupError extends Error {}

/** How a person calls Stamm's commands: through npm in a checkout, by its own program in a release. */
export const program = process.env.STAMM_PROGRAM ?? 'npm run --silent stamm --';

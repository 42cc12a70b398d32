# machine_answers.c: a watch flight that finds no own node goes on
/^void zkl_step_on_watched/,/^}/ {
    s/^    if (own == ZKL_ANSWER_NO_NODE || !is_ours) {/    if (!is_ours) {/
    s/} else if (own == ZKL_ANSWER_OK) {/} else if (own == ZKL_ANSWER_OK || own == ZKL_ANSWER_NO_NODE) {/
}

# The library against a real server. One block a program; included by CMakeLists.txt.

# The stage: server, proxy, observer, sessions and locks.
add_library(zklock_test_lock_stage STATIC lock_stage.c)
target_link_libraries(zklock_test_lock_stage PUBLIC zklock_internals zklock_test_support zklock_build_rules)

zklock_test_program(NAME test_lock_cost LABEL server SOURCES test_lock_cost.c LIBS zklock_test_lock_stage TIMEOUT 120 TESTS
    free_lock_is_granted_by_two_requests
    lock_that_stays_held_costs_a_third_request
    locks_that_are_released_soon_are_not_watched
    create_and_list_are_sent_in_one_flight
    grant_of_a_free_lock_awaits_no_third_answer
    free_lock_takes_one_round_trip
    release_is_one_request
    busy_try_costs_three_requests
    waiting_costs_two_more_requests_in_one_flight
    next_in_line_is_granted_without_a_request
    deeper_waiter_lists_once_when_woken
    release_wakes_one_of_eight_sessions
    release_wakes_one_of_a_thousand_waiters)

zklock_test_program(NAME test_lock_limit LABEL server SOURCES test_lock_limit.c LIBS zklock_test_lock_stage TESTS
    try_of_a_free_lock_holds_it
    try_of_a_held_lock_is_busy_and_leaves_nothing
    limit_of_zero_asks_once
    limit_of_zero_does_not_wait_for_a_connection
    limit_behind_a_holder_is_a_timeout
    timeout_names_the_contender_ahead
    limit_without_a_server_says_that_it_is_refused
    limit_with_a_silent_server_says_that_it_is_silent
    limit_with_a_server_that_falls_silent_says_so
    limit_with_a_server_that_goes_away_says_so
    very_long_limits_do_not_overflow
    silent_first_address_does_not_eat_the_limit
    silent_last_address_does_not_eat_the_limit)

zklock_test_program(NAME test_lock_calls LABEL server SOURCES test_lock_calls.c LIBS zklock_test_lock_stage TESTS
    begun_acquire_tells_by_event_descriptor_and_result
    cleared_descriptor_is_readable_at_the_next_event
    wait_gives_the_result_of_a_begun_acquire
    acquire_is_cancelled_while_its_create_is_answered
    acquire_is_cancelled_while_its_listing_is_answered
    acquire_is_cancelled_while_its_watches_are_planted
    acquire_is_cancelled_before_its_create_arrives
    acquire_is_cancelled_while_it_waits
    acquire_is_cancelled_while_its_parents_are_made
    acquire_is_cancelled_before_there_is_a_connection
    waiter_behind_a_cancelled_one_waits_for_the_holder
    cancel_comes_too_late_for_a_held_lock
    confirmed_release_leaves_no_node
    sent_release_returns_before_its_answer
    object_is_free_for_a_new_acquire_while_its_delete_is_under_way
    second_acquire_on_one_object_is_refused_at_once
    surplus_release_leaves_the_state_intact
    lock_is_released_by_another_thread
    acquire_while_a_thread_waits_for_the_release_is_refused
    tokens_rise_even_when_the_parent_is_made_anew
    token_is_the_czxid_of_the_contender)

zklock_test_program(NAME test_lock_hold LABEL server SOURCES test_lock_hold.c LIBS zklock_test_lock_stage TESTS
    hold_limit_is_a_loss_of_its_own
    next_one_is_granted_though_the_owner_has_not_released
    remaining_time_ends_with_the_hold_limit
    release_in_time_is_no_loss
    hold_limit_counts_from_the_grant
    late_release_says_that_the_lock_was_lost
    hold_limit_ends_each_kind_of_hold
    hold_limit_ends_a_downgraded_hold
    holder_that_is_cut_off_meanwhile_deletes_when_it_is_connected
    several_locks_count_from_the_last_grant
    thread_of_a_cohort_loses_by_the_hold_limit)

zklock_test_program(NAME test_lock_reentry LABEL server SOURCES test_lock_reentry.c LIBS zklock_test_lock_stage TESTS
    owner_enters_again_without_a_request
    last_of_as_many_releases_lets_go
    for_other_threads_it_is_held_by_somebody_else
    object_without_the_option_is_not_entered_again
    lost_lock_is_not_entered_again_and_released_as_often
    downgraded_lock_is_not_entered_again
    what_no_thread_waits_for_is_refused
    freed_object_lets_go_of_all_entries
    owner_of_a_cohort_enters_again)

zklock_test_program(NAME test_lock_callbacks LABEL server SOURCES test_lock_callbacks.c LIBS zklock_test_lock_stage TESTS
    events_come_in_the_order_of_what_happened
    failed_acquire_tells_its_end_then_that_nothing_is_left
    call_that_failed_runs_no_callback
    slow_callback_delays_neither_state_nor_results
    blocking_call_in_a_callback_is_a_deadlock_of_any_session
    callback_may_acquire_and_release_without_blocking
    close_from_inside_the_lost_callback_is_refused_and_harmless
    lock_is_freed_from_inside_its_own_callback
    free_waits_for_a_running_callback_and_drops_the_others
    callback_of_a_lock_that_is_being_freed_begins_nothing
    free_of_a_waiter_removes_it
    free_of_a_holder_releases
    free_while_the_create_is_under_way_leaves_nothing
    free_accepts_nothing)

zklock_test_program(NAME test_lock_loss LABEL server SOURCES test_lock_loss.c LIBS zklock_test_lock_stage TESTS
    deleted_holder_is_told_at_once
    holder_deleted_before_its_watch_is_told_too
    holder_without_the_event_is_told_by_the_heartbeat
    deleted_waiter_is_told_and_the_one_behind_waits_on
    all_contenders_deleted_at_once_are_all_told
    holder_in_a_hole_is_told_before_its_node_goes
    holder_that_is_refused_is_told_before_its_node_goes
    holder_that_hears_no_answer_is_told
    holder_in_a_hole_that_becomes_refusal_is_told
    short_cut_suspends_and_resumes_the_same_contender
    contender_of_a_lost_lock_stays_until_it_is_released
    waiter_that_expired_queues_again_and_says_so
    waiter_that_expired_while_it_heard_all_queues_again
    waiter_that_expired_while_it_was_refused_queues_again
    front_waiter_that_expired_is_granted_by_a_new_node)

zklock_test_program(NAME test_lock_cut LABEL server SOURCES test_lock_cut.c LIBS zklock_test_lock_stage TESTS
    release_during_a_cut_is_done_when_the_connection_is_back
    release_that_nobody_confirms_ends_at_its_limit
    release_in_a_hole_that_nobody_confirms_ends_at_its_limit
    lock_freed_during_a_cut_is_released_when_the_connection_is_back
    try_after_a_release_that_nobody_confirmed_is_not_behind_it
    each_silence_is_told
    release_whose_answer_is_lost_is_a_release
    release_whose_request_is_lost_is_sent_again
    release_whose_answer_alone_is_lost_is_a_release
    limits_during_a_cut_are_kept_and_what_is_left_is_removed_later
    create_under_way_at_the_limit_is_found_and_removed
    close_during_a_cut_ends_within_its_bound_and_says_so
    close_in_a_hole_ends_within_its_bound_and_says_so
    close_in_time_for_the_reconnect_leaves_nothing)

zklock_test_program(NAME test_lock_unknown LABEL server SOURCES test_lock_unknown.c LIBS zklock_test_lock_stage TIMEOUT 180 TESTS
    lost_answers_and_requests_leave_one_contender_and_no_orphan
    answer_to_the_barrier_is_lost_too
    silence_after_the_create_is_a_lost_answer
    lost_answer_to_the_watches_is_asked_for_again
    lost_event_is_told_after_the_reconnect
    create_that_comes_late_is_swept
    create_that_comes_late_does_not_stop_the_ones_behind
    create_that_comes_late_is_removed_by_the_next_listing
    lost_create_of_a_freed_lock_ends_the_session
    create_that_comes_late_for_a_freed_lock_is_swept)

zklock_test_program(NAME test_lock_order LABEL server SOURCES test_lock_order.c counter_log.c LIBS zklock_test_lock_stage TESTS
    junk_is_ignored_and_never_deleted
    order_is_by_number_alone
    node_that_is_not_ephemeral_is_waited_for
    families_that_do_not_count_us_are_refused
    names_are_what_the_other_libraries_read
    styles_exclude_each_other
    kazoo_writer_waits_for_kazoo_readers
    contenders_beyond_the_counter_come_after_all_others
    equal_numbers_are_ordered_by_creation
    numbers_of_a_crowd_at_the_limit_are_ordered_by_creation)

zklock_test_program(NAME test_lock_parents LABEL server SOURCES test_lock_parents.c LIBS zklock_test_lock_stage TESTS
    missing_parents_are_made
    existing_parents_cost_no_request
    directory_removed_before_the_create_arrives_is_made_again
    directory_removed_right_after_it_was_made_is_made_again
    directory_removed_while_the_create_is_unknown_is_made_again
    holder_whose_directory_is_removed_is_told_and_may_queue_again
    ephemeral_directory_is_refused_in_words
    directory_is_a_container_that_the_server_removes
    persistent_directory_stays
    acquires_go_on_while_the_server_removes_the_directory
    lock_below_a_chroot_stays_below_it
    missing_chroot_is_made
    locks_with_and_without_chroot_are_the_same
    root_and_malformed_paths_are_refused)

zklock_test_program(NAME test_session LABEL server SOURCES test_session.c LIBS zklock_test_lock_stage TIMEOUT 420 TESTS
    each_of_two_servers_is_found
    each_of_four_servers_is_found
    each_of_six_servers_is_found
    server_that_comes_late_is_found
    names_are_looked_up_again_after_a_long_absence
    ten_restarts_leave_holder_and_order
    lease_follows_the_timeout_that_was_granted
    session_is_made_anew_after_it_expired
    close_leaves_nothing_at_the_server
    close_ends_a_blocking_acquire
    close_of_many_contenders_leaves_nothing
    close_before_the_first_connection_ends_at_once
    two_hundred_open_close_cycles_on_two_threads_are_harmless)

zklock_test_program(NAME test_lock_names LABEL server SOURCES test_lock_names.c
    LIBS zklock_test_lock_stage zklock_test_odd_resolver zklock_test_odd_clock TIMEOUT 300 TESTS
    failing_names_do_not_touch_who_is_connected
    hanging_names_do_not_touch_who_is_connected
    leader_is_lost_while_names_hang
    name_that_fails_is_said_and_asked_again
    name_that_hangs_is_said_and_used_when_it_comes
    bad_name_among_good_ones_does_no_harm
    name_that_hangs_among_good_ones_does_no_harm
    name_that_leads_elsewhere_is_followed
    wall_clock_may_be_set_at_any_time)

zklock_test_program(NAME test_lock_ensemble LABEL server SOURCES test_lock_ensemble.c LIBS zklock_test_lock_stage
    TIMEOUT 300 PROCESSORS 2 TESTS
    holder_behind_a_muted_follower_gives_up_first
    holder_behind_a_deaf_follower_gives_up_first
    holder_behind_a_cut_off_follower_gives_up_first
    contender_unknown_to_a_deaf_follower_is_not_taken_for_broken
    holder_at_a_muted_leader_is_told
    holder_at_a_cut_off_leader_is_told
    holder_at_a_deaf_leader_is_told
    holder_at_a_leader_that_stands_still_gives_up_first
    holder_at_a_follower_that_stands_still_gives_up_first
    holder_moves_from_a_muted_follower
    holder_moves_from_a_cut_off_follower
    each_way_is_found
    lost_answers_leave_one_contender_whoever_serves_next
    limit_during_a_cut_is_kept_and_the_remains_are_removed
    release_during_a_cut_is_done_by_whoever_serves_next
    servers_restarted_in_turn_leave_holder_and_order)

zklock_test_program(NAME test_lock_server LABEL server SOURCES test_lock_server.c LIBS zklock_test_lock_stage
    TIMEOUT 300 TESTS
    server_that_was_set_back_gets_fresh_sessions
    full_disk_of_the_server_is_told_and_outlived)

zklock_test_program(NAME test_lock_replaced LABEL server SOURCES test_lock_replaced.c LIBS zklock_test_lock_stage
    TIMEOUT 180 TESTS
    silent_servers_cost_neither_lock_nor_place
    holder_hears_of_its_deletion_through_the_new_handle
    waiter_is_granted_what_became_free_meanwhile
    nothing_is_asked_before_a_write_was_answered)

zklock_test_program(NAME test_lock_handover LABEL server SOURCES test_lock_handover.c LIBS zklock_test_lock_stage TIMEOUT 180 TESTS
    eight_threads_of_one_session_exclude_each_other
    eight_sessions_hand_over_a_thousand_times
    eight_sessions_hand_over_while_connections_are_cut
    threads_without_a_server_get_a_failure
    many_locks_live_on_one_session
    waiter_is_granted_when_the_holder_goes_before_the_watch
    waiter_is_granted_when_the_holder_goes_between_the_two_watches
    waiter_lists_again_when_the_one_ahead_goes_before_the_watch
    watches_of_a_thousand_timeouts_are_harmless)

zklock_test_program(NAME test_lock_room LABEL server SOURCES test_lock_room.c LIBS zklock_test_lock_stage TIMEOUT 120 TESTS
    waits_that_would_not_survive_a_reconnect_are_refused
    room_comes_back_when_a_lock_is_given_up
    left_watches_do_not_add_up_for_ever)

zklock_test_program(NAME test_lock_access LABEL server SOURCES test_lock_access.c LIBS zklock_test_lock_stage TESTS
    denied_create_is_named_and_leaves_nothing
    denied_list_is_named_and_leaves_nothing
    denied_create_of_the_parents_is_named
    parents_without_rights_do_no_harm
    lease_is_kept_without_rights_on_the_root
    denied_delete_is_named_and_the_session_ends
    denied_delete_ends_the_session_although_it_observes
    denied_delete_leaves_the_node_while_the_session_is_needed
    denied_delete_of_a_waiter_ends_the_session
    denied_list_and_delete_end_the_session
    lost_create_that_nobody_may_look_for_ends_the_session
    close_ends_what_it_may_not_delete
    contender_ahead_that_may_not_be_read_is_waited_for
    wait_for_a_contender_that_may_not_be_read_ends_when_it_goes
    queue_that_may_not_be_read_is_denied)

zklock_test_program(NAME test_lock_credentials LABEL server SOURCES test_lock_credentials.c LIBS zklock_test_lock_stage
    TIMEOUT 120 TESTS
    credentials_open_the_lock
    server_restarted_during_a_wait_does_no_harm
    reader_in_a_writers_place_has_the_writers_rights
    connections_cut_at_any_time_do_no_harm
    nothing_is_asked_before_they_are_accepted
    wrong_credentials_lack_the_right_that_is_named
    unknown_scheme_is_an_authentication_that_failed
    waiter_is_told_when_servers_come_to_refuse_and_may_come_back
    nodes_are_open_by_default
    nodes_of_the_creator_are_for_nobody_else
    nodes_of_the_creator_may_be_read_where_that_is_wanted
    credentials_are_in_no_log_and_no_payload)

zklock_test_program(NAME test_intervene LABEL server SOURCES test_intervene.c LIBS zklock_test_lock_stage TESTS
    broken_holder_loses_and_the_next_one_holds
    broken_contender_is_broken_again_without_harm
    contender_that_was_written_since_is_not_broken
    other_contender_of_the_same_name_is_not_broken
    foreign_child_is_not_broken
    name_that_the_client_library_refuses_is_refused
    break_with_a_lost_answer_is_done_once
    contender_of_a_long_path_is_asked_and_broken
    denied_break_says_so
    holder_is_asked_to_let_go_once
    request_of_the_recipe_is_understood
    each_request_is_told
    waiter_is_asked_to_let_go
    request_written_before_the_grant_is_told
    request_that_crosses_a_stamp_is_told
    contender_that_is_gone_is_not_asked
    token_of_the_holder_is_verified
    token_is_verified_behind_a_quorum_write
    locks_are_found_at_every_depth
    locks_are_found_below_a_chroot
    directory_tells_of_itself)

zklock_test_program(NAME test_lock_modes LABEL server SOURCES test_lock_modes.c LIBS zklock_test_lock_stage TIMEOUT 120 TESTS
    each_style_names_its_contenders_as_the_others_do
    readers_hold_together_and_writers_alone
    reader_behind_a_waiting_writer_waits_for_it
    reader_enters_at_once_when_the_writer_ahead_gives_up
    release_to_fifty_readers_wakes_fifty
    release_to_fifty_sessions_wakes_fifty
    shared_holder_is_told_of_its_loss
    downgrade_lets_readers_in_and_keeps_token_and_number
    downgrade_whose_answer_is_lost_is_done_once
    limit_of_a_downgrade_is_each_threads_own
    release_before_the_downgrade_is_certain_leaves_nothing
    downgraded_reader_is_told_of_its_loss
    writer_waits_for_a_reader_that_came_under_its_writers_number
    what_cannot_be_changed_is_refused
    contenders_who_do_not_count_each_other_are_refused
    readers_and_writers_beyond_the_counter_are_refused
    observer_sees_each_leader_in_turn
    options_without_a_mode_mean_exclusive)

zklock_test_program(NAME test_multi LABEL server SOURCES test_multi.c LIBS zklock_test_lock_stage TIMEOUT 120 TESTS
    eight_free_paths_take_one_round_trip
    eight_paths_are_released_in_one_flight
    missing_parents_are_made_for_all
    nothing_is_kept_beyond_the_first_path_that_is_not_free
    two_takers_in_each_others_way_both_get_their_turn
    takers_of_any_two_paths_never_wait_for_each_other
    readers_of_one_path_share_it
    result_makes_the_descriptor_readable
    try_of_a_held_path_leaves_nothing
    limit_behind_somebody_leaves_nothing
    cancelled_wait_leaves_nothing
    freed_objects_leave_nothing
    closed_session_ends_the_wait
    loss_of_one_is_the_loss_of_all
    loss_while_the_rest_is_awaited_begins_anew
    expiry_while_waiting_begins_anew
    equal_paths_are_refused
    parts_are_not_taken_by_themselves)

zklock_test_program(NAME test_multi_calls LABEL server SOURCES test_multi_calls.c LIBS zklock_test_lock_stage TESTS
    free_waits_for_a_callback_that_asks_for_all
    callback_may_free_all
    waiter_hears_how_its_own_acquire_ended
    callback_on_the_end_may_begin_the_next
    locks_are_added_while_others_look)

zklock_test_program(NAME test_lock_permits LABEL server SOURCES test_lock_permits.c LIBS zklock_test_lock_stage TIMEOUT 120 TESTS
    as_many_hold_as_there_are_permits
    permits_are_given_in_the_order_of_arrival
    lease_of_another_client_counts
    waiter_that_gives_up_makes_room_for_the_next
    limit_of_time_says_what_is_ahead
    try_of_a_full_semaphore_writes_nothing
    try_is_not_held_up_by_the_guard_of_another
    first_one_sets_the_limit
    another_limit_is_refused_and_both_are_named
    limit_is_taken_as_it_stands
    data_of_others_are_left_alone
    raised_limit_lets_the_waiters_in
    lowered_limit_takes_nothing_away
    limit_is_set_where_there_is_no_path
    two_first_ones_agree_on_one_limit
    those_who_wait_for_the_guard_follow_the_limit
    permit_that_comes_with_a_lock_gives_way
    lock_that_comes_with_a_permit_gives_way
    holder_is_told_that_its_lease_was_removed
    waiter_is_told_that_its_lease_was_removed
    waiter_is_told_that_its_place_in_the_queue_was_removed
    expired_waiters_queue_again
    expired_holder_is_told
    lease_whose_answer_is_lost_is_found_again
    limit_that_changes_during_a_cut_is_seen_after_it
    closing_removes_holders_and_waiters
    free_permit_costs_eight_requests_in_two_flights
    release_wakes_the_one_that_gets_the_permit_and_its_successor
    queue_shows_permits_holders_and_waiters
    semaphore_is_one_path_among_others
    lock_of_another_client_beside_permits_is_seen
    lock_where_nobody_uses_the_semaphore_is_a_lock
    wait_ends_when_a_permit_is_free
    what_semaphores_cannot_do_is_refused)

zklock_test_program(NAME test_guard LABEL server SOURCES test_guard.c LIBS zklock_test_lock_stage TESTS
    holder_writes
    late_write_of_a_former_holder_fails_at_the_server
    other_failures_are_told_apart
    request_to_let_go_does_not_fail_the_write
    who_does_not_hold_gets_no_check
    path_is_that_below_the_chroot)

zklock_test_program(NAME test_cohort LABEL server SOURCES test_cohort.c LIBS zklock_test_lock_stage TESTS
    hand_over_within_the_process_asks_nothing
    token_is_that_of_the_grant_and_rises_with_the_next
    another_process_has_its_turn_after_the_passes
    nothing_is_handed_on_after_the_time
    threads_of_two_processes_exclude_each_other
    limit_is_each_threads_own
    loss_is_told_and_the_next_one_queues_anew
    removed_contender_ends_the_wait_of_all
    closed_session_ends_the_waits
    owner_is_a_thread
    thread_with_the_id_of_the_owner_is_not_the_owner
    its_lock_is_there_to_look_at
    bad_arguments_are_refused)

zklock_test_program(NAME test_cohort_rate LABEL server SOURCES test_cohort_rate.c LIBS zklock_test_lock_stage TESTS
    hand_over_is_twenty_times_as_fast_as_through_zookeeper)

zklock_test_program(NAME test_inspect LABEL server SOURCES test_inspect.c LIBS zklock_test_lock_stage TESTS
    queue_of_a_missing_path_is_empty
    queue_shows_holder_and_waiters_in_order
    odd_payloads_are_given_as_they_are
    readers_at_the_front_hold_together
    queue_is_read_while_contenders_come_and_go
    long_queue_is_read_whole
    queue_is_read_over_a_cut
    reading_without_an_answer_ends_at_its_limit
    bad_paths_are_refused
    free_lock_is_free_at_once
    wait_ends_when_the_holder_lets_go
    wait_goes_on_over_a_cut
    wait_ends_at_its_limit
    wait_ends_when_the_session_is_closed)

zklock_test_program(NAME test_observer LABEL server SOURCES test_observer.c LIBS zklock_test_lock_stage TESTS
    leader_is_told_with_its_payload_and_token
    each_change_of_leader_is_told
    leader_that_crashes_is_told
    leaders_of_every_style_are_told
    path_may_come_into_being_later
    same_leader_is_not_told_twice
    leader_that_may_not_be_read_is_told_without_payload
    list_that_is_denied_is_told
    contenders_behind_the_leader_wake_no_observer
    change_of_leader_costs_two_requests
    cut_changes_nothing_and_hides_nothing
    answers_that_are_lost_are_asked_for_again
    leader_that_goes_between_list_and_watch_is_not_told
    observer_outlives_its_session
    observer_goes_on_when_the_handle_is_replaced
    observer_may_be_started_before_there_is_a_connection
    latest_alone_is_told_after_a_slow_callback
    leader_that_came_and_went_during_a_callback_is_left_out
    stop_waits_for_a_running_callback
    observer_may_be_stopped_from_its_callback
    stop_with_a_request_under_way_does_no_harm
    closed_session_ends_it_without_a_call
    is_told_where_the_owner_dispatches
    bad_arguments_are_refused)

zklock_test_program(NAME test_fork LABEL server SOURCES test_fork.c LIBS zklock_test_lock_stage TIMEOUT 120 TESTS
    every_call_in_a_forked_child_says_so_at_once
    parent_holds_on_after_the_child_has_ended
    forks_at_any_moment_leave_no_child_stuck)

zklock_test_program(NAME test_lease_live LABEL server SOURCES test_lease_live.c LIBS zklock_test_lock_stage TIMEOUT 120 TESTS
    lease_on_one_server_stays_above_two_fifths
    lease_on_three_servers_stays_above_two_fifths)

zklock_test_program(NAME test_lock_leaks LABEL server SOURCES test_lock_leaks.c LIBS zklock_test_lock_stage TIMEOUT 300 TESTS
    pairs_of_acquire_and_release_leave_nothing
    tries_of_a_held_lock_leave_nothing
    waits_for_a_held_lock_leave_nothing
    objects_freed_while_they_hold_leave_nothing)

zklock_test_program(NAME test_session_end LABEL server SOURCES test_session_end.c LIBS zklock_test_lock_stage TESTS
    next_in_line_holds_as_soon_as_the_session_is_ended
    session_that_is_over_counts_as_ended
    silent_first_server_does_not_eat_the_limit
    limit_passes_without_a_server
    what_is_no_key_is_refused)

zklock_test_program(NAME test_lease_partition LABEL server SOURCES test_lease_partition.c LIBS zklock_test_lock_stage
    PROCESSORS 2 TIMEOUT 400 TESTS
    strict_rule_alone_holds_in_every_partition)

# The same for a night.
zklock_test_program(NAME test_lease_night LABEL nightly SOURCES test_lease_live.c LIBS zklock_test_lock_stage
    TIMEOUT 900 TESTS
    lease_on_one_server_stays_above_two_fifths
    lease_on_three_servers_stays_above_two_fifths)
target_compile_definitions(test_lease_night PRIVATE WATCHED_SECONDS=600)

zklock_test_program(NAME test_lock_leaks_night LABEL nightly SOURCES test_lock_leaks.c LIBS zklock_test_lock_stage
    TIMEOUT 3600 TESTS
    pairs_of_acquire_and_release_leave_nothing
    tries_of_a_held_lock_leave_nothing
    waits_for_a_held_lock_leave_nothing
    objects_freed_while_they_hold_leave_nothing)
target_compile_definitions(test_lock_leaks_night PRIVATE REPETITIONS=100000)

zklock_test_program(NAME test_lock_ensemble_night LABEL nightly SOURCES test_lock_ensemble.c LIBS zklock_test_lock_stage
    TIMEOUT 900 PROCESSORS 2 TESTS
    holder_behind_a_muted_follower_gives_up_first
    holder_behind_a_deaf_follower_gives_up_first
    holder_behind_a_cut_off_follower_gives_up_first
    contender_unknown_to_a_deaf_follower_is_not_taken_for_broken
    holder_at_a_muted_leader_is_told
    holder_at_a_cut_off_leader_is_told
    holder_at_a_deaf_leader_is_told
    holder_at_a_leader_that_stands_still_gives_up_first
    holder_at_a_follower_that_stands_still_gives_up_first
    holder_moves_from_a_muted_follower
    holder_moves_from_a_cut_off_follower
    each_way_is_found
    lost_answers_leave_one_contender_whoever_serves_next
    limit_during_a_cut_is_kept_and_the_remains_are_removed
    release_during_a_cut_is_done_by_whoever_serves_next
    servers_restarted_in_turn_leave_holder_and_order)
target_compile_definitions(test_lock_ensemble_night PRIVATE ROLLS=10)

zklock_test_program(NAME test_lease_partition_night LABEL nightly SOURCES test_lease_partition.c
    LIBS zklock_test_lock_stage PROCESSORS 2 TIMEOUT 3600 TESTS
    strict_rule_alone_holds_in_every_partition)
target_compile_definitions(test_lease_partition_night PRIVATE PARTITIONS=60)
